"""A wheel in an empty directory, built from the source distribution, does what a checkout does."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(CHECKOUT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("clustergen-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory to put before everything else on the module path."""
    place = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def clustergen(place: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line of the package in `place`."""
    command = [sys.executable, "-P", "-c", "from clustergen.cli import main; main()", *arguments]
    env = {**os.environ, "PYTHONPATH": str(place), "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd, env=env)


def tracked(directory: str) -> set[str]:
    command = ["git", "ls-files", directory]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=CHECKOUT)
    return {line.removeprefix(f"{directory}/") for line in done.stdout.splitlines()}


@pytest.mark.parametrize(
    ("directory", "inside"),
    [
        ("generator/clustergen", "clustergen"),
        ("templates", "clustergen/_templates"),
        ("programs", "clustergen/_programs"),
        ("playbooks/ansible_collections", "ansible_collections"),
        ("docs/codes", "clustergen/_codes"),
    ],
)
def test_every_file_travels(wheel: Path, directory: str, inside: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix(f"{inside}/") for name in archive.namelist() if name.startswith(f"{inside}/")}
    assert tracked(directory) - names == set()


def test_the_wheel_owns_its_package_and_its_collection(wheel: Path) -> None:
    """ansible-core looks for collections in a directory `ansible_collections`, which many packages share."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {"/".join(name.split("/")[:2]) for name in archive.namelist() if ".dist-info/" not in name}
    assert {top for top in tops if not top.startswith("clustergen/")} == {"ansible_collections/clustergen"}


def test_its_playbooks_are_found_without_any_setting(installed: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_bytes((CHECKOUT / "inventories/home-3090/manifest.yaml").read_bytes())
    assert clustergen(installed, "render", str(manifest), cwd=tmp_path).returncode == 0
    script = (
        "import sys; sys.path[:] = [p for p in sys.path if not p.endswith('/playbooks')]; "
        "from ansible.cli.playbook import main; main()"
    )
    command = [sys.executable, "-P", "-c", script, "site.yml", "--list-tasks"]
    env = {**os.environ, "PYTHONPATH": str(installed), "NO_COLOR": "1"}
    where = tmp_path / "rendered"
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=where, env=env)
    assert done.returncode == 0, done.stderr
    assert "Let the daemons parse the new files" in done.stdout


def test_it_is_the_wheel_that_runs(installed: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", "import clustergen; print(clustergen.__file__)"]
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path, env=env)
    assert Path(done.stdout.strip()).is_relative_to(installed)


def test_it_renders_what_the_checkout_renders(installed: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_bytes((CHECKOUT / "inventories/ml-training/manifest.yaml").read_bytes())
    trees = []
    for place, out in ((installed, "wheel"), (CHECKOUT / "generator", "checkout")):
        done = clustergen(place, "render", "manifest.yaml", "-o", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        directory = tmp_path / out
        trees.append(
            {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
        )
    assert len(trees[0]) > 20
    assert trees[0] == trees[1]


def test_a_mistake_gets_a_place_and_a_page(installed: Path, tmp_path: Path) -> None:
    text = (CHECKOUT / "inventories/ml-training/manifest.yaml").read_text(encoding="utf-8")
    (tmp_path / "manifest.yaml").write_text(f"{text}\nnmae: oops\n", encoding="utf-8")
    done = clustergen(installed, "validate", "manifest.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "manifest.yaml:" in done.stdout
    code = done.stdout.partition("[")[2].partition("]")[0]
    page = clustergen(installed, "explain", code, cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert code in page.stdout
