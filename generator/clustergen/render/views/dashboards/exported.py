"""Which metrics this cluster's Prometheus has: what the exporters serve, and what recording rules make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.metrics import node_metrics, self_metrics, slurm_metrics
from clustergen.cluster.contributions import Exported
from clustergen.cluster.dcgm import JOB_INFO, dcgm_types, job_form
from clustergen.cluster.features.monitoring import Alertmanager, Blackbox, Ipmi
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.cluster.slurm.power_saving import PowerSaving
from clustergen.render.views import dcgm
from clustergen.render.views.alerts import disks, expiry, kernel, roce, snmp, storage, topics
from clustergen.render.views.alerts.slurm import POWER_METRIC, SCRIPT_METRICS, STATE_METRICS, own_endpoint
from clustergen.render.views.dashboards import sensors

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_MATCHERS = re.compile(r"\{[^}]*\}")
_LABELS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
_NAME = re.compile(r"(?<![\w:$])(?:[a-z]+:)?[A-Za-z_][\w:]*\b(?!\s*\()")
_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "inf"})
_DURATION = re.compile(r"\[[^\]]*\]|\boffset\s+\w+")
_HARDWARE = {"edac", "hwmon", "mdadm"}  # what some machines lack


def metrics_of(expr: str) -> set[str]:
    """The names of the metrics that an expression reads."""
    for pattern in (_STRINGS, _MATCHERS, _DURATION, _LABELS):
        expr = pattern.sub(" ", expr)
    return {name for name in _NAME.findall(expr) if name not in _WORDS}


@once_per_cluster
def exported(cluster: Cluster) -> frozenset[str]:
    return frozenset(_exported(cluster))


def _exported(cluster: Cluster) -> Iterator[str]:
    yield "up"
    yield "ALERTS"
    programs = {"prometheus"} | ({"alertmanager"} if cluster.has(Alertmanager) else set())
    yield from (name for name, metric in self_metrics().items() if metric.program in programs)
    for topic in topics(cluster).values():
        yield from (rule.name for rule in topic.recordings)
    if cluster.has(NodeExporter):
        missing = _missing_collectors(cluster)
        yield from (name for name, metric in node_metrics().items() if metric.collector not in missing)
        yield from kernel.METRICS
        if job_form(cluster) == "info":
            yield JOB_INFO
        if disks.is_exported(cluster):
            yield from disks.METRICS
        if roce.is_exported(cluster):
            yield from roce.METRICS
        if expiry.certificates(cluster):
            yield expiry.METRIC
    for program in cluster.needs(Exported):
        yield from program.metrics
    if cluster.has(Ipmi):
        yield from sensors.METRICS
    yield from snmp.metrics(cluster)
    if cluster.has(Blackbox):
        yield from ("probe_success", "probe_duration_seconds")
        if cluster.of(Blackbox).web:
            yield "probe_ssl_earliest_cert_expiry"
    yield from _slurm(cluster)
    for kind in dcgm_types(cluster).values():
        if listed := dcgm.counters(cluster, kind):
            yield from (counter.field for _, part in listed.parts for counter in part if counter.kind != "label")


def _missing_collectors(cluster: Cluster) -> set[str]:
    """Collectors of the node exporter that are off, or find nothing to read on any node."""
    enabled = set(cluster.of(NodeExporter).collectors)
    missing = {"mountstats"} | _HARDWARE
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        missing.add("infiniband")
    if not storage.has_collector(cluster, "nfs"):
        missing.add("nfs")
    if not storage.has_pools(cluster):
        missing.add("zfs")
    if storage.has_arrays(cluster):
        missing.remove("mdadm")
    return missing - enabled


def _slurm(cluster: Cluster) -> Iterator[str]:
    if not cluster.slurm.controllers:
        return
    if own_endpoint(cluster):
        yield from slurm_metrics()
    elif cluster.has(NodeExporter):
        yield from SCRIPT_METRICS
    if cluster.has(NodeExporter):
        yield from STATE_METRICS
        if cluster.has(PowerSaving):
            yield POWER_METRIC
