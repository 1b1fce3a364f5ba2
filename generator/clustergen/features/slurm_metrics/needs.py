"""Contributions of Slurm's metrics to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.metrics import NODE_STATES, PARTITION_STATES, slurm_metrics
from clustergen.cluster.contributions import Exported, SafeWriter, ScrapeJob
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, Scraping, own_endpoint
from clustergen.cluster.slurm.keys.table import switches_nodes_off

TEXTFILE = "slurm.prom"
_JOBS = ("running", "pending", "cpus_alloc", "gpus_alloc")
SCRIPT_METRICS = (
    "slurm_nodes",
    *(f"slurm_nodes_{state}" for state in NODE_STATES),
    *(
        f"slurm_jobs_{state}"
        for state in (
            *("pending", "running", "completed", "failed", "timeout", "outofmemory", "node_failed", "cancelled"),
            "preempted",
        )
    ),
    *(f"slurm_partition_{name}" for name in ("nodes", "gpus")),
    *(f"slurm_partition_nodes_{state}" for state in PARTITION_STATES),
    *(f"slurm_{kind}_jobs_{name}" for kind in ("partition", "user", "account") for name in _JOBS),
    *(
        f"slurm_{name}"
        for name in (
            *("server_thread_cnt", "agent_queue_size", "agent_cnt", "agent_thread_cnt", "slurmdbd_queue_size"),
            *("schedule_cycle_last", "sched_mean_cycle", "sched_mean_depth_cycle", "schedule_queue_len"),
            *("bf_cycle_last", "bf_mean_cycle", "bf_depth_mean", "bf_try_depth_mean", "bf_queue_len"),
        )
    ),
)
"""Metrics that the script writes for releases without an endpoint."""
STATE_METRICS = (
    "clustergen_slurm_node_drained",
    "clustergen_slurm_completing_seconds",
    "clustergen_slurm_controller_up",
)
"""Metrics that the script writes for all releases."""
POWER_METRIC = "clustergen_slurm_node_asleep"
"""The metric that it writes with power saving."""
_PATHS = {  # job → path; /metrics itself is an index
    "slurm-jobs": "/metrics/jobs",
    "slurm-nodes": "/metrics/nodes",
    "slurm-partitions": "/metrics/partitions",
    "slurm-scheduler": "/metrics/scheduler",
    "slurm-users": "/metrics/jobs-users-accts",
}
_INTERVAL_S = 60  # slurmctld walks all jobs and nodes for each answer


def scrape_jobs(cluster: Cluster) -> Iterator[ScrapeJob]:
    if own_endpoint(cluster):
        interval_s = max(_INTERVAL_S, cluster.of(Scraping).interval_s)
        controllers, port = cluster.with_role("slurm-controller"), cluster.slurm.daemons["slurmctld"].port
        for name, path in _PATHS.items():
            yield ScrapeJob(name, controllers, port, path, interval_s)


def exported(cluster: Cluster) -> Iterator[Exported]:
    if not cluster.slurm.controllers:
        return
    if own_endpoint(cluster):
        yield Exported(tuple(slurm_metrics()))
    elif cluster.has(NodeExporter):
        yield Exported(SCRIPT_METRICS)
    if cluster.has(NodeExporter):
        yield Exported((*STATE_METRICS, POWER_METRIC) if switches_nodes_off(cluster) else STATE_METRICS)


def writers(_: NodeExporter) -> Iterator[SafeWriter]:
    yield SafeWriter("clustergen-slurm-metrics")
