"""The programs around jobs: a runner each for prolog and epilog, the scripts that it runs, and the task prolog.

A script per concern, in a directory that the runner goes through in order: a site adds its own beside ours.
"""

from __future__ import annotations

from collections.abc import Callable

from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.manifest.mount import Mount
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.formats import PYTHON, SHELL, Format
from clustergen.render.views.dcgm import job_map, job_metrics

_DELETION = 20  # seconds for which an epilog waits until a scratch directory is deleted
_GRACE = 15  # seconds between the end of our own patience and Slurm's


@record
class Runner:
    limit: int
    """Seconds for all scripts together."""


@record
class TaskProlog:
    tmpdir: str | None


@record
class TmpDir:
    tmpdir: str
    creates: bool
    """The prolog creates the job's directory, the epilog removes it."""
    patience: int
    """Seconds for a deletion before it goes on in the background."""


@record
class Strays:
    admin_group: str | None


@record
class Gpus:
    exclusive: bool
    """A GPU has one job at a time."""


@record
class JobMap:
    job_map: str
    exclusive: bool
    metrics: str


@record
class MountCheck:
    name: str
    mount: str
    patience: int
    """Seconds in which it must respond. The prolog waits longer: slurmctld does not end its drains by itself."""


def prolog(cluster: Cluster) -> Runner | None:
    return _runner(cluster) if cluster.manifest.slurm.scripts.prolog else None


def epilog(cluster: Cluster) -> Runner | None:
    return _runner(cluster) if cluster.manifest.slurm.scripts.epilog else None


def _runner(cluster: Cluster) -> Runner:
    timeout = cluster.manifest.slurm.scripts.timeout
    return Runner(max(timeout - _GRACE, timeout // 2))


def task_prolog(cluster: Cluster) -> TaskProlog | None:
    scripts = cluster.manifest.slurm.scripts
    return TaskProlog(scripts.tmpdir) if scripts.task_prolog else None


def tmpdir(cluster: Cluster) -> str | None:
    """Made by the prolog and removed by the epilog: without both of them there is none."""
    scripts = cluster.manifest.slurm.scripts
    return scripts.tmpdir.rstrip("/") if scripts.tmpdir and scripts.prolog and scripts.epilog else None


def tmpdir_prolog(cluster: Cluster) -> TmpDir | None:
    return _tmpdir(cluster, creates=True)


def tmpdir_epilog(cluster: Cluster) -> TmpDir | None:
    return _tmpdir(cluster, creates=False)


def _tmpdir(cluster: Cluster, *, creates: bool) -> TmpDir | None:
    place = tmpdir(cluster)
    return TmpDir(place, creates, min(_DELETION, _runner(cluster).limit // 4)) if place else None


def strays(cluster: Cluster) -> Strays | None:
    """Where users come in only with a job, whatever is in none is a leftover."""
    host = cluster.manifest.host
    is_enabled = cluster.manifest.slurm.scripts.epilog and host.ssh_adopt
    return Strays(host.admin_group) if is_enabled else None


def is_exclusive(cluster: Cluster, gpus: GpuSet) -> bool:
    """Neither parts of a GPU nor suspended jobs: one GPU, one job."""
    return not (any(gpus.mig) or gpus.shards_per_gpu or gpus.mps_per_gpu or _suspends(cluster))


@once_per_cluster
def _suspends(cluster: Cluster) -> bool:
    preemption = cluster.manifest.slurm.preemption
    everywhere = preemption.mode == "suspend" and preemption.by != "off"
    return everywhere or any(partition.spec.preempt == "suspend" for partition in cluster.partitions)


def gpu_prolog(cluster: Cluster, kind: NodeType) -> Gpus | None:
    is_enabled = cluster.manifest.slurm.scripts.prolog and kind.gpus
    return Gpus(is_exclusive(cluster, kind.gpus)) if is_enabled and kind.gpus else None


def gpu_epilog(cluster: Cluster, kind: NodeType) -> Gpus | None:
    """Only where the GPUs were the job's alone: what still runs there is its own."""
    is_enabled = cluster.manifest.slurm.scripts.epilog and kind.gpus and is_exclusive(cluster, kind.gpus)
    return Gpus(True) if is_enabled else None


def gpu_errors(cluster: Cluster, kind: NodeType) -> Gpus | None:
    is_enabled = cluster.manifest.slurm.scripts.epilog and cluster.manifest.health.ecc and kind.gpus
    return Gpus(is_exclusive(cluster, kind.gpus)) if is_enabled and kind.gpus else None


def gpu_job_map(cluster: Cluster, kind: NodeType) -> JobMap | None:
    directory = job_map(cluster, kind)
    if not directory or not kind.gpus:
        return None
    return JobMap(directory, is_exclusive(cluster, kind.gpus), job_metrics(cluster, kind))


def mount_check(cluster: Cluster, name: str, entry: Mount) -> dict[str, MountCheck]:
    """A file system that jobs cannot do without."""
    is_enabled = entry.required and "slurm-compute" in entry.clients and cluster.manifest.slurm.scripts.prolog
    patience = min(60, _runner(cluster).limit // 4)
    return {name: MountCheck(name, entry.mount, patience)} if is_enabled else {}


def script(
    path: str,
    view: Callable[..., object],
    *,
    source: str | None = None,
    per_type: bool = False,
    language: Format = SHELL,
) -> File:
    """A program below /etc/slurm, read anew each time it runs."""
    return File(path, view, mode=0o755, per="type" if per_type else "cluster", format=language, source=source)


_MOUNT_CHECK = "mount/etc/slurm/health.d/30-mount-{name}"
_TMPDIR = "slurm_compute/etc/slurm/epilog.d/50-tmpdir"
_GPU_ERRORS = "gpu_node/etc/slurm/health.d/20-gpu-errors"

FILES: tuple[File, ...] = (
    script("slurm_compute/etc/slurm/prolog", prolog),
    script("slurm_compute/etc/slurm/epilog", epilog),
    script("slurm_compute/etc/slurm/task_prolog", task_prolog),
    script("mount/etc/slurm/prolog.d/20-mount-{name}", mount_check, source=_MOUNT_CHECK),
    script("gpu_node/etc/slurm/prolog.d/30-gpu", gpu_prolog, per_type=True),
    script("gpu_node/etc/slurm/prolog.d/40-job-map", gpu_job_map, per_type=True),
    script("slurm_compute/etc/slurm/prolog.d/50-tmpdir", tmpdir_prolog, source=_TMPDIR, language=PYTHON),
    script("compute_only/etc/slurm/epilog.d/20-strays", strays),
    script("gpu_node/etc/slurm/epilog.d/30-gpu", gpu_epilog, per_type=True),
    script("gpu_node/etc/slurm/epilog.d/35-gpu-errors", gpu_errors, source=_GPU_ERRORS, per_type=True),
    script("gpu_node/etc/slurm/epilog.d/40-job-map", gpu_job_map, per_type=True),
    script("slurm_compute/etc/slurm/epilog.d/50-tmpdir", tmpdir_epilog, source=_TMPDIR, language=PYTHON),
)
