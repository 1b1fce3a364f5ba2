"""GPU metrics: which fields the DCGM exporter shows, how it is started, and which accounts reach DCGM's host engine.

nv-hostengine could listen on a Unix socket, but dcgm-exporter up to 4.5.3-4.8.2 connects by TCP alone (dcgm.Init in
internal/pkg/dcgmprovider): rules of nftables by user guard its port, without which nvidia-dcgm does not start.
"""

from __future__ import annotations

from clustergen.catalogue.dcgm import DcgmField, dcgm_fields
from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.network import ports
from clustergen.cluster.dcgm import Dcgm, job_form, job_map, job_metrics, reports, runs_exporter
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.features.dcgm.needs import runs_host_engine
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, reload, restart
from clustergen.render.file import Context, File
from clustergen.render.views.alerts import topics

UNIT = "nvidia-dcgm-exporter.service"
COUNTERS = "/etc/dcgm-exporter/clustergen-counters.csv"
_GUARD = "clustergen-dcgm-guard.service"
HOST_ENGINE = "localhost:5555"
_NO_PROFILING = ("GeForce", "RTX", "Quadro", "TITAN")
_UNWANTED = frozenset({"DCGM_FI_DEV_VGPU_LICENSE_STATUS", "DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_DEC_UTIL"})


@record
class Counter:
    """A line of the exporter's list: name, Prometheus type, words for people without a comma."""

    field: str
    kind: str
    help: str


@record
class Counters:
    """The exporter's list, in parts."""

    parts: tuple[tuple[str, tuple[Counter, ...]], ...]


@record
class Exporter:
    """How the exporter runs; `interval` in milliseconds; `job_map` is None where samples do not name jobs."""

    counters: str
    port: int
    interval: int
    host_engine: str
    job_map: str | None


def has_profiling(gpu: Gpu) -> bool:
    """Profiling counters are for data-centre GPUs from Volta on."""
    modern = not gpu.sm or float(gpu.sm) >= 7.0
    return modern and not any(word in gpu.nvml_name for word in _NO_PROFILING)


@once_per_cluster
def _read_by_alerts(cluster: Cluster) -> list[str]:
    fields = (field for topic in topics(cluster).values() if topic.alerts for field in topic.dcgm_fields())
    return list(dict.fromkeys(fields))


def counters(cluster: Cluster, node_type: NodeType) -> Counters | None:
    """Counters of these GPUs: those that the alerts read, the exporter's usual fields, and the manifest's own."""
    if not runs_exporter(cluster, node_type) or node_type.gpus is None:
        return None
    dcgm = cluster.of(Dcgm)
    alerts = [name for name in _read_by_alerts(cluster) if reports(node_type, name)]
    fields = {
        name: field
        for name, field in dcgm_fields().items()
        if field.known_in(dcgm.version) and reports(node_type, name)
    }
    usual = [field for name, field in fields.items() if field.default_on and name not in {*alerts, *_UNWANTED}]
    profiling = dcgm.profiling and has_profiling(node_type.gpus.model)
    parts = {
        "What the alerts read": [_counter(name, fields.get(name)) for name in alerts],
        "Load, memory, clocks, power": [
            _line(field) for field in usual if not field.profiling and field.kind != "label"
        ],
        "Labels of all series": [_line(field) for field in usual if field.kind == "label"],
        "Profiling counters": [_line(field) for field in usual if field.profiling and profiling],
    }
    shown = {counter.field for part in parts.values() for counter in part}
    parts["The site's own"] = [_counter(name, fields.get(name)) for name in dcgm.counters if name not in shown]
    return Counters(tuple((title, tuple(part)) for title, part in parts.items() if part))


def _counter(name: str, field: DcgmField | None) -> Counter:
    return _line(field) if field else Counter(name, "gauge", "See NVIDIA's list of DCGM fields")


def _line(field: DcgmField) -> Counter:
    return Counter(field.field, field.kind, field.help)


def exporter(cluster: Cluster, node_type: NodeType) -> Exporter | None:
    if not runs_exporter(cluster, node_type):
        return None
    spec = cluster.of(Dcgm)
    labels = job_map(cluster, node_type) if job_form(cluster) == "label" else None
    return Exporter(COUNTERS, spec.port, spec.interval_ms, HOST_ENGINE, labels)


def job_map_directory(cluster: Cluster, node_type: NodeType) -> Context | None:
    """The directory of the map of GPUs to jobs, and its text file of node_exporter, empty where there is none."""
    directory = job_map(cluster, node_type)
    return {"job_map": directory, "metrics": job_metrics(cluster, node_type)} if directory else None


def guard(cluster: Cluster, node_type: NodeType) -> Context | None:
    """The port of nv-hostengine."""
    return {"port": ports()["dcgm"].port} if runs_host_engine(cluster, node_type) else None


_RESTART = restart(UNIT)
_UNITS = "gpu_node/etc/systemd/system"
FILES = (
    File(f"gpu_node{COUNTERS}", counters, _RESTART, per="type"),
    File(f"{_UNITS}/nvidia-dcgm-exporter.service.d/50-clustergen.conf", exporter, _RESTART, per="type"),
    File("gpu_node/etc/tmpfiles.d/clustergen-dcgm.conf", job_map_directory, _RESTART, per="type"),
    File("gpu_node/etc/clustergen/dcgm.nft", guard, reload(_GUARD), per="type"),
    File(f"{_UNITS}/{_GUARD}", runs_host_engine, DAEMON_RELOAD, per="type"),
    File(f"{_UNITS}/nvidia-dcgm.service.d/50-clustergen.conf", runs_host_engine, DAEMON_RELOAD, per="type"),
)
