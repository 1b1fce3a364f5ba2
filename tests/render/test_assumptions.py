"""Hardware that no source confirms, and packages that nobody serves: at validate, in README.md and in slurm.conf."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.compile import render, validate
from strategies.findings import TINY, changed

B200 = changed(TINY, ("{system: dgx-h100}", "{system: hgx-b200-8}"), ("debian-12", "debian-13"))
MEASURED = changed(
    B200, ("{system: hgx-b200-8}", "{system: hgx-b200-8, cpu: {cores_per_socket: 64}, real_memory: 1500000}")
)


def run(text: str, folder: Path) -> Result:
    (folder / "manifest.yaml").write_text(text)
    return CliRunner().invoke(group, ["validate", str(folder / "manifest.yaml")])


def rendered(text: str, folder: Path, name: str) -> str:
    path = folder / "manifest.yaml"
    path.write_text(text)
    tree, _ = render(validate(path), path)
    return next(file.content.decode() for file in tree if file.path.endswith(name))


def test_unconfirmed_hardware_is_marked_everywhere(tmp_path: Path) -> None:
    result = run(B200, tmp_path)
    assert result.exit_code == 0
    words = "2 sockets of 56 cores and RealMemory 2034237 MiB of hgx-b200-8 are not confirmed by any source"
    assert f"warning[hardware-unconfirmed]: {words}" in result.stdout
    assert "manifest.yaml:6:3" in result.stdout
    assert "run slurmd -C on a node and set cpu and real_memory of node type h100" in result.stdout
    lines = rendered(B200, tmp_path, "/slurm.conf").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("NodeName=gpu"))
    assert lines[place - 1].startswith(f"# Assumed: {words}")
    assert "Assumed: node type h100" in rendered(B200, tmp_path, "README.md")


def test_a_render_warns_too(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(changed(B200, ("debian-13", "ubuntu-24.04")))
    result = CliRunner().invoke(group, ["render", str(path)])
    assert result.exit_code == 0
    assert "warning[hardware-unconfirmed]" in result.stdout
    assert "warning[slurm-packages-lacking]" in result.stdout


def test_values_of_the_manifest_are_no_assumptions(tmp_path: Path) -> None:
    assert "warning" not in run(MEASURED, tmp_path).stdout
    assert "Assumed" not in rendered(MEASURED, tmp_path, "/slurm.conf") + rendered(MEASURED, tmp_path, "README.md")


def test_a_program_gets_them_too(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(changed(B200, ("debian-13", "ubuntu-24.04")))
    result = CliRunner().invoke(group, ["validate", str(tmp_path / "manifest.yaml"), "--format", "json"])
    assert result.exit_code == 0
    codes = [found["code"] for found in json.loads(result.stdout)["diagnostics"]]
    assert {"hardware-unconfirmed", "slurm-packages-lacking"} <= set(codes)


def test_a_release_without_packages_is_a_warning(tmp_path: Path) -> None:
    """Debian 12 has Slurm 22.05; `build: schedmd` says that the site builds its own."""
    result = run(TINY, tmp_path)
    assert "no distribution package of Slurm 24.11 exists for debian-12" in result.stdout
    assert "clustergen explain slurm-packages-lacking" in result.stdout
    assert "Assumed: Slurm's packages" in rendered(TINY, tmp_path, "README.md")
    stated = changed(TINY, ('version: "24.11"', 'version: "24.11", build: schedmd'))
    assert "warning" not in run(stated, tmp_path).stdout
