"""Resources that users of notebooks can choose."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.slurm.job_site import JobSite, site_of
from clustergen.diagnostics.words import counted
from clustergen.features.notebooks.resolved import Notebooks
from clustergen.records import record

_STEPS = (30, 60, 120, 240, 480, 720, 1440, 2880, 10080)  # minutes


@record
class Choice:
    """Resources of a notebook, as users choose them. `gres`: of the job; empty without GPUs."""

    partition: str
    gpus: int
    gres: str
    cpus: int
    memory_mib: int
    minutes: tuple[int, ...]  # run times to choose from

    @property
    def title(self) -> str:
        """Text for users: `debug: 1 GPU, 14 CPUs, 180 GiB`."""
        gpus = [counted(self.gpus, "GPU")] if self.gpus else []
        return f"{self.partition}: {', '.join((*gpus, counted(self.cpus, 'CPU'), f'{self.memory_mib >> 10} GiB'))}"


def sites(cluster: Cluster) -> tuple[JobSite, ...]:
    """Where notebooks run, by partition."""
    candidates = (site_of(cluster, name) for name in cluster.of(Notebooks).partitions)
    return tuple(site for site in candidates if site)


@once_per_cluster
def choices(cluster: Cluster) -> tuple[Choice, ...]:
    """The offers of the form: all that a job of one node can have."""
    notebooks = cluster.of(Notebooks)
    result = []
    for site in sites(cluster):
        most = min(notebooks.max_minutes or _STEPS[-1], site.longest or _STEPS[-1])
        minutes = (*(step for step in _STEPS if step < most), most)
        result += [_choice(notebooks, site, gpus, minutes) for gpus in notebooks.gpus if gpus <= site.gpus]
    return tuple(result)


def _choice(notebooks: Notebooks, site: JobSite, gpus: int, minutes: tuple[int, ...]) -> Choice:
    name = site.partition.name
    if gpus:
        gres = ":".join(filter(None, ("gpu", site.gres, str(gpus))))
        return Choice(
            partition=name,
            gpus=gpus,
            gres=gres,
            cpus=gpus * site.cpus_per_gpu,
            memory_mib=gpus * site.mem_per_gpu_mib,
            minutes=minutes,
        )
    cpus = min(notebooks.cpus, site.cores * site.threads)
    return Choice(
        partition=name,
        gpus=0,
        gres="",
        cpus=cpus,
        memory_mib=min(notebooks.memory.mib, site.kind.job_memory_mib),
        minutes=minutes,
    )
