"""Software for users: modules before Lmod, Python environments from pip, toolkits that fit drivers and GPUs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.features.environment import checks
from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.check import Reader
from clustergen.verify.programs import ask, find
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, manifest, node_files, runnable, text_of, tree_of

PROGRAM = "/usr/local/sbin/clustergen-environments"
VALUES = "/etc/clustergen/environments.json"
LOGIN = {"name": "login1", "type": "service", "address": "10.0.0.2", "roles": ["login"]}
HOME = {"type": "nfs", "server": "10.0.0.20", "path": "/home", "mount": "/home", "clients": ["login", "slurm-compute"]}
PYTHON = {"tiny/1.0": {"packages": ["tiny==1.0"], "cuda": "12.8"}, "tiny/0.9": {"packages": ["tiny==0.9"]}}
ENVIRONMENT = {"cuda": ["12.8", "13.0"], "cudnn": "9.8", "nccl": "2.27", "python": PYTHON}


def software(**fields: Any) -> dict[str, Any]:
    return manifest(nodes=[HEAD, LOGIN, COMPUTE], storage={"home": HOME}, environment={**ENVIRONMENT, **fields})


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return tree_of(software(), tmp_path_factory.mktemp("environment"))


def test_toolkits_and_libraries_are_packages_of_login_and_compute_nodes(tree: Tree) -> None:
    packages = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)["cluster_packages"]
    expected = ["lmod", "cuda_toolkit_12-8", "cuda_toolkit_13-0", "cudnn_9-cuda-12", "nccl", "virtual_environments"]
    assert packages["software_node"] == expected
    facts = yaml.safe_load(tree.files["inventory/group_vars/os_debian_13.yml"].content)
    assert facts["os_packages"]["cuda_toolkit_12-8"] == ["cuda-toolkit-12-8"]
    assert facts["os_repositories"]["cuda_toolkit_13-0"] == "cuda"
    assert "\nPin: version 2.27[.-]*+cuda12.8\n" in text_of(tree, "c1", "/etc/apt/preferences.d/clustergen-environment")
    assert not any("/lmod/" in place for place in node_files(tree, "head"))


LOAD = """
. /etc/profile.d/lmod.sh
module load tiny && echo "$CUDA_HOME $VIRTUAL_ENV ${PATH%%:*}"
python -c 'print("stand-in")'
module load cuda/13.0 2>/dev/null && echo "$CUDA_HOME"
module purge; echo "${CUDA_HOME-none} ${VIRTUAL_ENV-none}"
module --terse --default avail 2>&1
"""


@pytest.mark.real
def test_a_user_loads_modules(tree: Tree, tmp_path: Path) -> None:
    root = _root_with_lmod()
    for place, file in node_files(tree, "c1").items():
        if place.startswith("/etc/lmod/"):
            copy = tmp_path / place.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.content)
    stand_in = tmp_path / "home/software/tiny/1.0/bin/python"
    stand_in.parent.mkdir(parents=True)
    stand_in.write_text("#!/bin/sh\necho stand-in\n", encoding="utf-8")
    stand_in.chmod(0o755)
    node = sandbox.Sandbox(root=root, files=((tmp_path, "/"),))
    done = sandbox.run(node, ["/bin/bash", "-c", LOAD], timeout=300)
    assert done.stdout.splitlines()[:4] == [
        "/usr/local/cuda-12.8 /home/software/tiny/1.0 /home/software/tiny/1.0/bin",
        "stand-in",
        "/usr/local/cuda-13.0",
        "none none",
    ], done
    assert {"cuda/12.8", "tiny/1.0"} <= set(done.stdout.split())


@pytest.mark.real
@pytest.mark.parametrize(
    ("module", "complaint"),
    [
        ('family("a-b")', "family names must be"),
        ('setenv("A"', "syntax errors"),
        ('depends_on("missing/1")', "unknown"),
        ('setenv("A", "b")', ""),
    ],
)
def test_verify_sees_modules_that_lmod_refuses(module: str, complaint: str, tmp_path: Path) -> None:
    _root_with_lmod()
    place = tmp_path / "lmod/modules/x/1.lua"
    place.parent.mkdir(parents=True)
    place.write_text(f"{module}\n", encoding="utf-8")
    reader = checks.CHECKS[0].ask
    assert isinstance(reader, Reader)
    arguments, stand_ins = ["/etc/lmod/modules/x/1.lua"], ((tmp_path, "/etc"),)
    answer = ask(find(reader.program), reader.script, version="echo 1", arguments=arguments, stand_ins=stand_ins)
    assert (answer.code != 0) == bool(complaint)
    assert complaint in " ".join(answer.lines)


def _root_with_lmod() -> Path:
    root = root_with("lua5.3")
    assert root is not None, "run clustergen setup parsers"
    assert (root / "etc/profile.d/lmod.sh").exists(), "run clustergen setup parsers"
    return root


def _index(directory: Path) -> None:
    """Wheels of two releases of a package."""
    for release in ("0.9", "1.0"):
        info = f"tiny-{release}.dist-info"
        with zipfile.ZipFile(directory / f"tiny-{release}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("tiny.py", f"release = {release!r}\n")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {release}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def builder(tree: Tree, tmp_path: Path) -> Callable[..., tuple[int, list[str]]]:
    """Runs the program with arguments, and wheels in place of an index; its status and its lines."""
    _index(tmp_path)
    program = runnable(tree, "login1", PROGRAM, tmp_path, {"/home/software": tmp_path / "software"})
    environment = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}

    def run(*arguments: str) -> tuple[int, list[str]]:
        command = [sys.executable, str(program), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, (done.stdout + done.stderr).splitlines()

    return run


def _release(tmp_path: Path) -> str:
    command = [tmp_path / "software/tiny/1.0/bin/python", "-c", "import tiny; print(tiny.release)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_an_environment_is_built_once(builder: Callable[..., tuple[int, list[str]]], tmp_path: Path) -> None:
    assert builder("--check") == (1, ["tiny/1.0: missing", "tiny/0.9: missing"])
    assert builder("tiny/1.0") == (0, ["tiny/1.0: built"])
    assert _release(tmp_path) == "1.0"
    assert builder("tiny/1.0") == (0, ["tiny/1.0: up to date"])


@pytest.mark.long
def test_another_list_is_built_beside_the_old_one(
    builder: Callable[..., tuple[int, list[str]]], tmp_path: Path
) -> None:
    builder("tiny/1.0")
    old = (tmp_path / "software/tiny/1.0").resolve()
    values = tmp_path / VALUES.lstrip("/")
    document = json.loads(values.read_text(encoding="utf-8"))
    document["environments"][0]["packages"] = ["tiny==0.9"]
    document["environments"][1]["packages"] = ["tiny==2.0"]
    values.write_text(json.dumps(document), encoding="utf-8")
    status, lines = builder()
    assert (status, lines[0]) == (1, "tiny/1.0: built")
    assert lines[1].startswith("tiny/0.9: failed: ERROR: ")
    assert _release(tmp_path) == "0.9"
    assert (old / "bin/python").exists()
    assert not (tmp_path / "software/tiny/0.9").exists()
    assert [path.name for path in (tmp_path / "software/tiny").iterdir() if path.name.startswith(".new")] == []


def test_job_templates_use_images_of_record(tmp_path: Path) -> None:
    data = software(images={"pytorch": "registry.example.org:5000/nvidia/pytorch:25.08-py3"})
    data["containers"] = {"podman": {"storage": "/srv/podman"}}
    data["slurm"] |= {"pyxis": {}, "partitions": {"batch": {"nodes": "all", "default": True}}}
    data["user_guide"] = {}
    files = node_files(tree_of(data, tmp_path), "login1")
    texts = {place.rpartition("/")[2]: file.content.decode() for place, file in files.items() if "/jobs/" in place}
    assert "registry.example.org:5000#nvidia/pytorch:25.08-py3" in texts["pytorch-container.sh"]
    assert "registry.example.org:5000/nvidia/pytorch:25.08-py3" in texts["pytorch-podman.sh"]


@pytest.mark.parametrize(
    ("fields", "gpu", "codes"),
    [
        ({"cuda": ["13.0"], "python": {}}, {"driver": "570"}, ["cuda-driver-old"]),
        ({"cuda": ["12.8"], "python": {}}, {"driver": "570"}, []),
        ({"cuda": ["11.4"], "python": {}}, {}, ["cuda-gpu-unfit"]),
        ({"cuda": []}, {}, ["cuda-toolkit-missing"] * 3),
        ({"python": {"cuda/1": {"packages": ["a==1"]}}}, {}, ["cuda-toolkit-missing"]),
        ({"directory": "/srv/software"}, {}, ["environment-not-shared"]),
        ({"python": {"a/1": {"packages": ["a"]}}}, {}, ["text-malformed"]),
        ({"python": {"a/1": {"packages": ["a==1; rm -rf /"]}}}, {}, ["text-malformed"]),
        ({"python": {"a/1": {"packages": ["a-b==1", "A_b[x]==2"]}}}, {}, ["value-not-allowed"]),
        ({"python": {"a/1": {"packages": ["a-b==1", "a==2"]}}}, {}, []),
        ({"images": {"pytorch": "nvcr.io/nvidia/pytorch"}}, {}, ["text-malformed"]),
    ],
)
def test_environments_that_do_not_fit(
    fields: dict[str, Any], gpu: dict[str, Any], codes: list[str], tmp_path: Path
) -> None:
    data = software(**fields)
    data["node_types"] = {"gpu": {**GPU, "gpus": {**GPU["gpus"], **gpu}}}  # type: ignore[dict-item]
    assert codes_of(data, tmp_path) == codes


def test_one_python_for_all_who_share_environments(tmp_path: Path) -> None:
    data = software()
    data["node_types"] = {"gpu": {**GPU, "os": "debian-12"}}
    assert "environment-not-shared" in codes_of(data, tmp_path)
