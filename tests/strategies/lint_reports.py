"""Small configurations for lint, and its findings in short form."""

from __future__ import annotations

from pathlib import Path

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity
from clustergen.lint.run import Report, lint

HEAD = "ClusterName=c\nSlurmctldHost=ctl\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\n"
NODES = "NodeName=n[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000\n"
PARTITIONS = "PartitionName=batch Nodes=ALL Default=YES\n"
GPUS = "GresTypes=gpu\nTaskPlugin=task/cgroup\n"
GPU_NODES = NODES.strip() + " Gres=gpu:a100:2\n"
CGROUP = "ConstrainDevices=yes\n"


def report(tmp_path: Path, release: str = "24.11", **files: str) -> Report:
    """Lint's report of these files; `slurm_conf` is the text of slurm.conf."""
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    return lint(tmp_path, SlurmRelease(release))


def summaries(result: Report, notes: bool = False) -> list[str]:
    """`error slurm.conf:5:1 code`, in file order."""
    return [
        f"{one.severity} {Path(str(one.place)).name} {one.code}"
        for one in result.diagnostics
        if notes or one.severity is not Severity.INFO
    ]
