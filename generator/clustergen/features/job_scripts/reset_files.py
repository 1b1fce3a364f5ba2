"""The reset of a job's GPUs in place of a reboot: a step of the epilog, and the command for administrators."""

from __future__ import annotations

from clustergen.catalogue.gpu_health import reset_scope
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.features.job_scripts.files import has_gpu_epilog
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.slurm_files import script

_FABRIC_MANAGER = "nvidia-fabricmanager.service"
_CLIENTS = ("nvidia-dcgm-exporter.service", "nvidia-dcgm.service")  # in the order in which they are stopped
_IDLE_MIB = 1024  # more than the driver and its daemons allocate on a GPU without a job


@record
class GpuReset:
    """Values of the reset."""

    resets_per_day: int  # of each GPU
    idle_mib: int  # of memory that may be allocated without a process; 0: not judged
    peers: tuple[str, ...]  # by GPU: those that are reset with it, as 0,1
    fabric_manager: str  # while this unit runs, each GPU is reset alone; empty: no such unit
    clients: tuple[str, ...]  # units that keep GPUs open


def gpu_reset(cluster: Cluster, node_type: NodeType) -> GpuReset | None:
    gpus = node_type.gpus
    if gpus is None or not has_gpu_epilog(cluster, node_type):
        return None
    scope = reset_scope(gpus.model, gpus.nvlink)
    if scope == "never":
        return None
    indices = range(gpus.count)
    return GpuReset(
        cluster.of(Scripts).gpu_resets,
        # The memory of a superchip's GPU belongs to the node's memory: the kernel allocates it as well.
        0 if gpus.model.form == "superchip" else _IDLE_MIB,
        tuple(str(index) if scope == "alone" else _joined(gpus, index) for index in indices),
        _FABRIC_MANAGER if scope == "fabric-manager" else "",
        _CLIENTS,
    )


def _joined(gpus: GpuSet, index: int) -> str:
    """All GPUs that a chain of NVLinks joins with one, itself included; all of the node where a switch does."""
    if not gpus.links:
        return ",".join(map(str, range(gpus.count)))
    members, pending = {index}, [index]
    while pending:
        neighbours = {other for other, links in enumerate(gpus.links[pending.pop()]) if links > 0} - members
        members |= neighbours
        pending += neighbours
    return ",".join(map(str, sorted(members)))


def resets_gpus(cluster: Cluster, node_type: NodeType) -> bool:
    return gpu_reset(cluster, node_type) is not None


FILES: tuple[File, ...] = (
    File("gpu_node/etc/clustergen/gpu-reset.sh", gpu_reset, values=True, per="type"),
    script("gpu_node/etc/slurm/epilog.d/32-gpu-reset", resets_gpus, per_type=True),
    script("gpu_node/usr/local/sbin/clustergen-gpu-reset", resets_gpus, "gpu/clustergen-gpu-reset.sh", per_type=True),
)
