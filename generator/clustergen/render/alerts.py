"""The shapes of alerting rules, and what a cluster's own rules are made from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from clustergen.catalogue.dcgm import dcgm_fields
from clustergen.catalogue.gpu_health import Generation, generation
from clustergen.catalogue.versions import DcgmVersion
from clustergen.cluster.features.monitoring import Dcgm, Scraping, dcgm_types
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.cluster.slurm.power_saving import PowerSaving
from clustergen.records import record

Severity = Literal["critical", "warning"]
Labels = tuple[tuple[str, str], ...]
BLANK_COUNT = "1e14"  # DCGM's blank values of 32-bit and floating-point fields start above
BLANK_TIME = "9e18"  # and that of 64-bit fields here
WHERE = "GPU {{ $labels.gpu }} of {{ $labels.instance }}"
DEVICE = "{{ $labels.device }} of {{ $labels.instance }}"
_DCGM = re.compile(r"\bDCGM_(?:FI|EXP)_[A-Z0-9_]+")


@record
class Recording:
    """A series that rules are written on: `name` is `level:metric:operation`."""

    name: str
    expr: str


@record
class Alert:
    """One alert. `meaning` says what is wrong, `action` what to do, with commands in backticks; texts may hold
    Prometheus' `{{ $labels.x }}`.

    `labels` tell alerts of one name apart: Alertmanager takes those with the same labels for one alert.
    """

    name: str
    expr: str
    wait: str  # how long the expression must hold
    severity: Severity
    summary: str
    meaning: str
    action: str
    labels: Labels = ()


@record
class Topic:
    """One rule file."""

    name: str
    title: str
    recordings: tuple[Recording, ...]
    alerts: tuple[Alert, ...]

    def dcgm_fields(self) -> list[str]:
        """The DCGM fields that its expressions read, in order of appearance."""
        text = "\n".join([rule.expr for rule in self.recordings] + [rule.expr for rule in self.alerts])
        return list(dict.fromkeys(_DCGM.findall(text)))


_JOB_LABELS = DcgmVersion("3.3")  # the first exporters that know --hpc-job-mapping-dir
JOB_INFO = "clustergen_gpu_job_info"
JobForm = Literal["label", "info"]


@once_per_cluster
def job_form(cluster: Cluster) -> JobForm | None:
    """How metrics name the job of a GPU: the label `hpc_job` of all its samples, or one series `JOB_INFO` per GPU and
    job, which node_exporter serves. None where the prolog records no jobs or nothing can export them.
    """
    scripts = cluster.of(Scripts)
    if not (scripts.job_map and scripts.prolog and scripts.epilog and cluster.has(Dcgm)):
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


def for_types(names: Iterable[str]) -> Labels:
    """The suffix that tells the alert for these node types from that for others."""
    return (("node_types", ", ".join(names)),)


def one_of(values: list[str]) -> str:
    """A PromQL matcher's value for several words: `=~"a|b"`, or `="a"` for one."""
    return f'="{values[0]}"' if len(values) == 1 else f'=~"{"|".join(values)}"'


def unless_asleep(cluster: Cluster) -> str:
    """Behind an expression by `instance`: not for nodes that power saving has switched off or is switching."""
    if not cluster.has(PowerSaving):
        return ""
    asleep = 'label_replace(clustergen_slurm_node_asleep, "instance", "$1", "node", "(.*)")'
    return f" unless on (instance) {asleep}"


def window(cluster: Cluster, minutes: int) -> str:
    """A range for rates: that long, and long enough to hold four samples."""
    return f"{max(minutes, -(-4 * cluster.of(Scraping).slowest_s // 60))}m"
