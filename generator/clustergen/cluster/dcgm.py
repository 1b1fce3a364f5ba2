"""DCGM: whose GPUs it manages, what it can report of them, and how its samples name the jobs of GPUs."""

from __future__ import annotations

from typing import Literal

from clustergen.catalogue.dcgm import dcgm_fields, nvlink_counters
from clustergen.catalogue.gpu_health import Generation, generation, max_operating_c
from clustergen.catalogue.versions import DcgmVersion
from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.monitoring import NodeExporter, textfile
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.records import record

_JOB_LABELS = DcgmVersion("3.3")  # the first exporters that know --hpc-job-mapping-dir
BUSY_PERCENT = 5  # utilisation from which on a GPU counts as busy
IDLE_ALERT = "GpuAllocatedIdle"
"""The alert on a GPU that its job does not use."""
JOB_INFO = "clustergen_gpu_job_info"
NVLINK_BIT_ERRORS = "DCGM_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER"
DEGREES_BELOW = 5  # degrees below its limit, from which on a GPU is hot
DEFAULT_LIMIT_C = 85  # where neither the catalogue nor the GPU has one
JobForm = Literal["label", "info"]


@record
class Dcgm(Listener):
    """DCGM of a cluster with GPUs."""

    node_types: tuple[str, ...]  # those whose GPUs it manages
    exports: bool  # their nodes run the exporter
    version: DcgmVersion
    interval_ms: int
    profiling: bool
    counters: tuple[str, ...]
    job_map: str  # directory in which the prolog records which job has which GPU
    job_label_limit: int
    hot_c: int | None  # threshold of an alert; None: by the GPU model
    very_hot_c: int | None  # threshold of an alert; None: by the GPU model
    throttled: float  # share of time; threshold of an alert


@once_per_cluster
def dcgm_types(cluster: Cluster) -> dict[str, NodeType]:
    """Node types whose GPUs DCGM manages, by name."""
    names = frozenset(cluster.of(Dcgm).node_types if cluster.has(Dcgm) else ())
    return {node_type.name: node_type for node_type in cluster.gpu_types if node_type.name in names}


@once_per_cluster
def job_form(cluster: Cluster) -> JobForm | None:
    """How metrics name the job of a GPU: the label `hpc_job` of all its samples, or one series `JOB_INFO` per GPU and
    job, which node_exporter serves. None where the prolog records no jobs or nothing can export them.
    """
    scripts = cluster.get(Scripts)
    if not (scripts and scripts.job_map and scripts.prolog and scripts.epilog and cluster.has(Dcgm)):
        return None
    dcgm = cluster.of(Dcgm)
    groups = [group for group in cluster.compute if group.type.name in dcgm_types(cluster)]
    gpus = sum(len(group.hosts) * group.type.gpus.count for group in groups if group.type.gpus)
    if gpus <= dcgm.job_label_limit:
        return "label" if dcgm.version >= _JOB_LABELS else None
    return "info" if cluster.has(NodeExporter) else None


def maps_jobs(cluster: Cluster) -> bool:
    """True if metrics name the jobs of a GPU, in either form."""
    return job_form(cluster) is not None


def gpus_in_jobs(cluster: Cluster) -> str:
    """A selector of series with the labels instance, gpu and hpc_job, for each GPU that a job has."""
    return JOB_INFO if job_form(cluster) == "info" else 'DCGM_FI_DEV_GPU_TEMP{hpc_job!=""}'


def exports(cluster: Cluster, field: str) -> bool:
    """True if the release of DCGM that the manifest names has the field."""
    return dcgm_fields()[field].known_in(cluster.of(Dcgm).version)


@once_per_cluster
def by_generation(cluster: Cluster) -> dict[Generation | None, list[NodeType]]:
    """Node types whose GPUs DCGM manages, by generation of the GPU."""
    types: dict[Generation | None, list[NodeType]] = {}
    for kind in dcgm_types(cluster).values():
        if kind.gpus:
            types.setdefault(generation(kind.gpus.model), []).append(kind)
    return types


def reports(node_type: NodeType, field: str) -> bool:
    """True if the GPUs of a node type report a field at all."""
    row = dcgm_fields().get(field)
    if row is None or node_type.gpus is None:
        return row is None
    of_links = {NVLINK_BIT_ERRORS, *(counter.field for counter in nvlink_counters())}
    has_links = node_type.gpus.nvlink != "none" or field not in of_links
    return has_links and row.reported_by(generation(node_type.gpus.model))


def limits(cluster: Cluster) -> tuple[int, int]:
    """°C from which on the coolest of the cluster's GPU models is hot, and very hot."""
    stated = cluster.get(Dcgm)
    models = [kind.gpus.model.id for kind in dcgm_types(cluster).values() if kind.gpus]
    limit = min((max_operating_c().get(model) or DEFAULT_LIMIT_C for model in models), default=DEFAULT_LIMIT_C)
    hot, very_hot = (stated.hot_c, stated.very_hot_c) if stated else (None, None)
    return hot or limit - DEGREES_BELOW, very_hot or limit


def runs_exporter(cluster: Cluster, node_type: NodeType) -> bool:
    """True if nodes of this type run the exporter: somebody reads it, or the manifest wants it in any case."""
    return node_type.name in dcgm_types(cluster) and cluster.of(Dcgm).exports


def job_map(cluster: Cluster, node_type: NodeType) -> str | None:
    """The directory in which the prolog says which job has which GPU; None where nothing reads or writes it."""
    return cluster.of(Dcgm).job_map if runs_exporter(cluster, node_type) and maps_jobs(cluster) else None


def job_metrics(cluster: Cluster, node_type: NodeType) -> str:
    """The file in which the prolog lists jobs and their GPUs for node_exporter; empty where samples have a label."""
    return textfile(cluster, node_type.os, "gpu-jobs.prom") if job_form(cluster) == "info" else ""
