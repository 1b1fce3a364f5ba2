"""The surroundings of job templates on this cluster, and which of them cannot run there."""

from __future__ import annotations

from clustergen.catalogue.job_templates import TemplateKind
from clustergen.cluster.contributions import JobRuntime
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.slurm.job_site import JobSite, site_of
from clustergen.cluster.slurm.jobs import Resources
from clustergen.features.user_guide.resolved import UserGuide

_RUNTIMES = {
    "pyxis": "requires pyxis, which srun --container-image uses",
    "apptainer": "requires apptainer on the compute nodes",
    "podman": "requires podman on the compute nodes",
}


@once_per_cluster
def job_site(cluster: Cluster) -> JobSite | None:
    """Of most templates. None without the section, or where no partition runs jobs."""
    return site_of(cluster, cluster.of(UserGuide).partition) if cluster.has(UserGuide) else None


@once_per_cluster
def service_site(cluster: Cluster) -> JobSite | None:
    """Of Jupyter and inference servers."""
    return site_of(cluster, cluster.of(UserGuide).service_partition) if cluster.has(UserGuide) else None


def unfit(cluster: Cluster, site: JobSite, kind: TemplateKind) -> str:
    """Why a job template cannot run on this cluster; empty where it can."""
    if not site.shared:
        return "requires home directories that login and compute nodes share"
    if kind.least > site.nodes:
        return f"requires {kind.least} nodes, and a job in partition {site.partition.name} can have {site.nodes}"
    if kind.gpus and not site.gpus:
        return f"requires GPUs, and partition {site.partition.name} has none"
    if (lacking := _RUNTIMES.get(kind.requires)) and JobRuntime(kind.requires) not in cluster.needs(JobRuntime):
        return lacking
    if kind.requires == "mpi" and cluster.of(Resources).mpi_default == "none":
        return "requires an MPI plugin of srun, and slurm.mpi_default is none"
    return ""
