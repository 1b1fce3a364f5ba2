"""`lint --register` reports the nodes that a real slurmctld refuses, at their lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.verify.slurm_roots import SlurmInstall

CONF = """\
ClusterName=test
SlurmctldHost=head
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd/%n
GresTypes=gpu
NodeName=right[1-4] Sockets=2 CoresPerSocket=8 RealMemory=99000000 Gres=gpu:2
NodeName=twice[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:2
NodeName=less[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:2
NodeName=plain1 NodeAddr=192.0.2.1 Sockets=2 CoresPerSocket=8 RealMemory=64000
NodeName=plain2 NodeAddr=192.0.2.2 Sockets=2 CoresPerSocket=8 RealMemory=64000
NodeName=later[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:4 State=FUTURE
NodeName=cloud[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000 State=CLOUD
PartitionName=all Nodes=ALL Default=YES
"""
GRES = """\
NodeName=right[1-4] Name=gpu File=/dev/nvidia[0-1]
NodeName=twice[1-4] Name=gpu Count=1
NodeName=twice[1-4] Name=gpu Count=1
NodeName=less[1-4] Name=gpu File=/dev/nvidia0
NodeName=later[1-4] Name=gpu File=/dev/nvidia[0-1]
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in {"slurm.conf": CONF, "gres.conf": GRES, "cgroup.conf": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _lines(directory: Path, release: str) -> list[str]:
    arguments = ["lint", str(directory), "--slurm-version", release, "--select", "node-registration"]
    return CliRunner().invoke(group, [*arguments, "--register"]).output.splitlines()


@pytest.mark.real
@pytest.mark.many
def test_refused_nodes_are_reported_at_their_lines(slurm: SlurmInstall, directory: Path) -> None:
    lines = _lines(directory, slurm.release)
    findings = [line.partition("slurm.conf:")[2] for line in lines if "[node-registration]" in line]
    assert [line.partition(":")[0] for line in findings] == ["8", "9", "12"], lines
    assert "slurmd: fatal: gres.conf duplicate records for gpu" in findings[0]
    assert "less1 is DRAIN+INVALID_REG: gres/gpu count reported lower than configured (1 < 2)" in findings[1]
    assert "later1 is DRAIN+INVALID_REG: gres/gpu count reported lower than configured (2 < 4)" in findings[2]
    assert f"registration: Slurm {slurm.version} was asked about 5 of 6 kinds of NodeName lines." in lines


def test_an_absent_release_is_named(directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path / "parsers"))
    monkeypatch.setenv("PATH", str(tmp_path))
    lines = _lines(directory, "24.11")
    assert "registration: Slurm 24.11 is not here; run clustergen setup parsers." in lines


@pytest.mark.real
@pytest.mark.many
def test_nodes_of_a_configless_cluster_read_what_slurmctld_hands_out(slurm: SlurmInstall, directory: Path) -> None:
    with (directory / "slurm.conf").open("a", encoding="utf-8") as file:
        file.write("SlurmctldParameters=enable_configless\nInclude /etc/slurm/more/switches.conf\n")
    (directory / "more").mkdir()
    (directory / "more/switches.conf").write_text("KillWait=60\n", encoding="utf-8")
    lines = _lines(directory, slurm.release)
    findings = [line for line in lines if "[node-registration]" in line]
    assert len(findings) == 3, lines


@pytest.mark.real
def test_files_that_stop_slurmctld_are_no_findings_about_nodes(current_slurm: SlurmInstall, directory: Path) -> None:
    with (directory / "slurm.conf").open("a", encoding="utf-8") as file:
        file.write("Include absent.conf\n")
    lines = _lines(directory, current_slurm.release)
    assert any(line.startswith("registration: no node was asked, slurmctld: ") for line in lines), lines
