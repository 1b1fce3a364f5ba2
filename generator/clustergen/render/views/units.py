"""Which systemd units are to run on the nodes of each group, read off the files that the group gets."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domain_nodes
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.render.tree import Outline
from clustergen.render.views.dcgm_guard import has_host_engine

_UNIT_DIRECTORY = "/etc/systemd/system/"
_BY_GROUP = {
    "slurm_controller": "slurmctld.service",
    "slurm_accounting": "slurmdbd.service",
    "slurm_compute": "slurmd.service",
}


def units_by_group(cluster: Cluster, outline: Outline) -> dict[str, tuple[str, ...]]:
    """Group → units: those that a file has an effect on, those that we bring ourselves, and Slurm's daemons."""
    collected: dict[str, dict[str, None]] = {name: {} for name in outline.groups}
    if cluster.slurm.auth == "munge":
        for name in ("slurm_node", "slurm_accounting"):
            collected.get(name, {})["munge.service"] = None
    if "slurm_accounting" in collected and cluster.of(Accounting).database_is_local:
        collected["slurm_accounting"]["mariadb.service"] = None
    for node_type in cluster.gpu_types:
        if node_type.gpus and node_type.gpus.nvlink == "nvswitch" and domain_nodes(node_type) == 1:
            collected[node_type.group]["nvidia-fabricmanager.service"] = None
        if has_host_engine(cluster, node_type):
            collected[node_type.group]["nvidia-dcgm.service"] = None
    for name, daemon in _BY_GROUP.items():
        if name in collected:
            collected[name][daemon] = None
    for file in outline.files.values():
        if file.group is None or file.target is None:
            continue
        unit = file.effect.unit
        if unit and file.effect.kind in ("reload", "restart", "drain") and not unit.startswith("systemd-"):
            collected[file.group][unit] = None
        file_name = file.target.removeprefix(_UNIT_DIRECTORY)
        if file_name != file.target and "/" not in file_name and b"\n[Install]\n" in file.content:
            collected[file.group][file_name] = None
    return {name: tuple(units) for name, units in collected.items() if units}
