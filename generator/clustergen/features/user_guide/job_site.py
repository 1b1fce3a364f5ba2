"""The surroundings of job templates on this cluster, and which of them cannot run there."""

from __future__ import annotations

from clustergen.catalogue.job_templates import TemplateKind, job_facts
from clustergen.cluster.contributions import JobRuntime
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.slurm.job_site import JobSite, site_of
from clustergen.cluster.slurm.jobs import Resources
from clustergen.features.user_guide.resolved import UserGuide

RUNTIMES = {
    "pyxis": "requires pyxis, which srun --container-image uses",
    "apptainer": "requires apptainer on the compute nodes",
    "podman": "requires podman on the compute nodes",
}
"""Runtimes of containers, the preferred ones first, and what a template says that needs this one."""


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
    return next(filter(None, (_lacking(cluster, site, kind, what) for what in kind.requires)), "")


def runtimes(cluster: Cluster) -> list[str]:
    """Container runtimes of this cluster that jobs can use."""
    names = {runtime.name for runtime in cluster.needs(JobRuntime)}
    return [name for name in RUNTIMES if name in names]


def precision(site: JobSite) -> str:
    """The number format of mixed precision on the GPUs of a job; fp16, which all have, where their model is unknown."""
    if site.kind.gpus is None:
        return "fp32"
    return "bf16" if float(site.kind.gpus.model.sm or 0) >= float(job_facts()["bf16-sm"]) else "fp16"


def _lacking(cluster: Cluster, site: JobSite, kind: TemplateKind, what: str) -> str:
    if what in RUNTIMES and what not in runtimes(cluster):
        return RUNTIMES[what]
    gpu = site.kind.gpus.model.nvml_name if site.kind.gpus else ""
    is_lacking, why = {
        "container": (not runtimes(cluster), "requires pyxis, apptainer or podman on the compute nodes"),
        "mpi": (
            cluster.of(Resources).mpi_default == "none",
            "requires an MPI plugin of srun, and slurm.mpi_default is none",
        ),
        "bf16": (precision(site) != "bf16", f"requires GPUs with bf16, and {gpu} has none"),
        "pair": (site.gpus * min(kind.most, site.nodes) < 2, "requires two GPUs in a job"),
        "node": (site.gpus < 2, "requires two GPUs in a node, and a job gets one"),
        "haproxy": (
            not cluster.of(UserGuide).is_selection,
            "is only there if the operators choose it, as it requires haproxy on the compute nodes",
        ),
    }.get(what, (False, ""))
    return why if is_lacking else ""
