"""Which systemd units are to run on the nodes of each group, read off the files that the group gets."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domain_nodes
from clustergen.render.tree import Outline
from clustergen.render.views.dcgm import exported
from clustergen.render.views.slurm.health import dcgm as dcgm_check

_UNIT_FOLDER = "/etc/systemd/system/"
_BY_GROUP = {
    "slurm_controller": "slurmctld.service",
    "slurm_accounting": "slurmdbd.service",
    "slurm_compute": "slurmd.service",
}


def units_by_group(cluster: Cluster, outline: Outline) -> dict[str, tuple[str, ...]]:
    """Group → units: those that a file has an effect on, those that we bring ourselves, and Slurm's daemons."""
    found: dict[str, dict[str, None]] = {name: {} for name in outline.groups}
    if cluster.manifest.slurm.auth == "munge":
        for name in ("slurm_node", "slurm_accounting"):
            found.get(name, {})["munge.service"] = None
    if "slurm_accounting" in found and cluster.manifest.slurm.accounting.database_host == "localhost":
        found["slurm_accounting"]["mariadb.service"] = None
    for kind in cluster.gpu_types:
        if kind.gpus and kind.gpus.nvlink == "nvswitch" and domain_nodes(kind) == 1:
            found[kind.group]["nvidia-fabricmanager.service"] = None
        if exported(cluster, kind) or dcgm_check(cluster, kind):
            found[kind.group]["nvidia-dcgm.service"] = None
    for name, daemon in _BY_GROUP.items():
        if name in found:
            found[name][daemon] = None
    for file in outline.files.values():
        if file.group is None or file.target is None:
            continue
        unit = file.effect.unit
        if unit and file.effect.kind in ("reload", "restart", "drain") and not unit.startswith("systemd-"):
            found[file.group][unit] = None
        own = file.target.removeprefix(_UNIT_FOLDER)
        if own != file.target and "/" not in own and b"\n[Install]\n" in file.content:
            found[file.group][own] = None
    return {name: tuple(units) for name, units in found.items() if units}
