"""The programs around jobs: a runner each for prolog and epilog, the scripts that it runs, and the task prolog.

A script per concern, in a directory that the runner goes through in order: a site adds its own beside ours.
"""

from __future__ import annotations

from clustergen.cluster.contributions import NodeLibrary, TaskVariable
from clustergen.cluster.dcgm import job_map, job_metrics
from clustergen.cluster.entry import Entry, is_needed_by_jobs
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.groups import types_in
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.cluster.slurm.scheduling import Preemption
from clustergen.records import record
from clustergen.render.file import Context, File
from clustergen.render.slurm_files import script

_DELETION = 20  # seconds for which an epilog waits until a scratch directory is deleted
_GRACE = 15  # seconds between the end of our own patience and Slurm's


@record
class GpuScripts:
    is_exclusive: bool  # a GPU has one job at a time
    job_map: str | None
    metrics_file: str  # of node_exporter; empty: none


def job_scripts(cluster: Cluster) -> Context | None:
    """`limit_s`: for all scripts together."""
    scripts, group = cluster.of(Scripts), cluster.of(NodeLogins).admin_group
    return {"limit_s": _limit(cluster), "admin_group": group} if scripts.prolog or scripts.epilog else None


def task_prolog(cluster: Cluster, node_type: NodeType) -> Context | None:
    """`variables`: NAME=VALUE, with UID for the user's own."""
    scripts = cluster.of(Scripts)
    needs = (one for one in cluster.needs(TaskVariable) if node_type.name in types_in(cluster, one.group))
    variables = tuple(f"{one.name}={one.value}" for one in needs)
    return {"tmpdir": scripts.tmpdir, "variables": variables} if scripts.task_prolog else None


def has_task_prolog(cluster: Cluster) -> bool:
    return cluster.of(Scripts).task_prolog


def _limit(cluster: Cluster) -> int:
    timeout = cluster.of(Scripts).timeout_s
    return max(timeout - _GRACE, timeout // 2)


def has_prolog(cluster: Cluster) -> bool:
    return cluster.of(Scripts).prolog


def has_epilog(cluster: Cluster) -> bool:
    return cluster.of(Scripts).epilog


def tmpdir_values(cluster: Cluster) -> Context | None:
    """`patience_s`: for a deletion before it goes on in the background."""
    place = cluster.of(Scripts).scratch
    return {"tmpdir": place, "patience_s": min(_DELETION, _limit(cluster) // 4)} if place else None


def has_tmpdir(cluster: Cluster) -> bool:
    return cluster.of(Scripts).scratch is not None


def ends_strays(cluster: Cluster) -> bool:
    """Where users come in only with a job, whatever is in none is a leftover."""
    return has_epilog(cluster) and cluster.of(NodeLogins).needs_job


def is_exclusive(cluster: Cluster, gpus: GpuSet) -> bool:
    """Neither parts of a GPU nor suspended jobs: one GPU, one job."""
    return not (any(gpus.mig) or gpus.shards_per_gpu or gpus.mps_per_gpu or _suspends(cluster))


@once_per_cluster
def _suspends(cluster: Cluster) -> bool:
    preemption = cluster.of(Preemption)
    everywhere = preemption.mode == "suspend" and preemption.by != "off"
    return everywhere or any(partition.preempt == "suspend" for partition in cluster.slurm.partitions)


def gpu_scripts(cluster: Cluster, node_type: NodeType) -> GpuScripts | None:
    if node_type.gpus is None or not (has_prolog(cluster) or has_epilog(cluster)):
        return None
    return GpuScripts(
        is_exclusive(cluster, node_type.gpus), job_map(cluster, node_type), job_metrics(cluster, node_type)
    )


def has_gpu_prolog(cluster: Cluster, node_type: NodeType) -> bool:
    return has_prolog(cluster) and node_type.gpus is not None


def has_gpu_epilog(cluster: Cluster, node_type: NodeType) -> bool:
    """Only where the GPUs were the job's alone: what still runs there is its own."""
    return has_epilog(cluster) and node_type.gpus is not None and is_exclusive(cluster, node_type.gpus)


def maps_gpus(cluster: Cluster, node_type: NodeType) -> bool:
    return node_type.gpus is not None and job_map(cluster, node_type) is not None


def ends_processes(cluster: Cluster, node_type: NodeType) -> bool:
    """True if a program of the node sources user-processes.sh."""
    is_used = NodeLibrary("user-processes") in cluster.needs(NodeLibrary)
    return is_used or has_gpu_prolog(cluster, node_type) or has_epilog(cluster)


def mount_values(cluster: Cluster, entry: Entry) -> dict[str, Context]:
    """A file system that jobs cannot do without, and the time in which it must respond."""
    is_checked = has_prolog(cluster) or NodeLibrary("mounts") in cluster.needs(NodeLibrary)
    if not is_checked or not is_needed_by_jobs(entry):
        return {}
    return {entry.name: {"mount": entry.mount, "prolog_patience_s": min(60, _limit(cluster) // 4)}}


def mount_prolog(cluster: Cluster, entry: Entry) -> dict[str, bool]:
    return dict.fromkeys(mount_values(cluster, entry) if has_prolog(cluster) else (), True)


_VALUES = "etc/clustergen"
FILES: tuple[File, ...] = (
    File(f"slurm_compute/{_VALUES}/job-scripts.sh", job_scripts, values=True),
    File(f"slurm_compute/{_VALUES}/task-prolog.sh", task_prolog, per="type", values=True),
    File(f"slurm_compute/{_VALUES}/tmpdir.json", tmpdir_values, values=True),
    File(f"gpu_node/{_VALUES}/gpu-scripts.sh", gpu_scripts, values=True, per="type"),
    File(f"mount/{_VALUES}/mount-{{name}}.sh", mount_values, values=True),
    File("mount/etc/slurm/prolog.d/20-mount-{name}", mount_prolog, mode=0o755, program="slurm/mount.sh"),
    script("slurm_compute/etc/slurm/prolog", has_prolog),
    script("slurm_compute/etc/slurm/epilog", has_epilog),
    File("slurm_compute/etc/slurm/task_prolog", has_task_prolog, mode=0o755, program="slurm/task_prolog.sh"),
    script("gpu_node/etc/slurm/prolog.d/30-gpu", has_gpu_prolog, per_type=True),
    script("gpu_node/etc/slurm/prolog.d/40-job-map", maps_gpus, "slurm/job-map.sh", per_type=True),
    script("compute_only/etc/slurm/epilog.d/20-strays", ends_strays),
    script("gpu_node/etc/slurm/epilog.d/30-gpu", has_gpu_epilog, per_type=True),
    script("gpu_node/etc/slurm/epilog.d/40-job-map", maps_gpus, "slurm/job-map.sh", per_type=True),
    script("slurm_compute/etc/slurm/prolog.d/50-tmpdir", has_tmpdir, "slurm/50-tmpdir.py"),
    script("slurm_compute/etc/slurm/epilog.d/50-tmpdir", has_tmpdir, "slurm/50-tmpdir.py"),
    script(
        "slurm_compute/usr/local/lib/clustergen/user-processes.sh",
        ends_processes,
        "lib/user-processes.sh",
        per_type=True,
        mode=0o644,
    ),
)
