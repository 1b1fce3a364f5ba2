"""The cluster at a glance: what is allocated, busy and idle, what waits, what is wrong."""

from __future__ import annotations

from clustergen.catalogue.metrics import NODE_STATES, PARTITION_STATES
from clustergen.cluster.dcgm import IDLE_ALERT, dcgm_types, limits, maps_jobs
from clustergen.cluster.model import Cluster
from clustergen.records import replace
from clustergen.render.alerts import runbook
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    ANY_IS_UNUSUAL,
    COLUMNS,
    Dashboard,
    Row,
    Target,
    at_least,
    graph,
    or_none,
    row,
    stat,
    table,
)


def dashboard(cluster: Cluster) -> Dashboard:
    return Dashboard(
        "overview",
        "Cluster overview",
        "GPUs allocated, busy and idle; the queue; alerts; the hottest and busiest nodes.",
        (_summary(cluster), _alerts(cluster), _gpus(), _queue(), _nodes(cluster)),
        place=10,
    )


def _summary(cluster: Cluster) -> Row:
    idle = stat(
        "Allocated but idle",
        f'count(ALERTS{{alertname="{IDLE_ALERT}",alertstate="firing"}}) or vector(0)',
        steps=ANY_IS_UNUSUAL,
        help="GPUs that their jobs have not used for half an hour.",
    )
    gpus = (
        stat("GPUs", "cluster:gpus:count"),
        stat("GPUs allocated", "cluster:gpus_allocated:count", help="GPUs that Slurm gave to jobs."),
        stat("GPUs busy", "cluster:gpus_busy:count", help="GPUs at 5 % utilisation or more."),
        *([idle] if dcgm_types(cluster) and maps_jobs(cluster) else []),
        stat("GPU power", "cluster:gpu_power_watts:sum", "watt"),
    )
    return row(
        "Now",
        stat(
            "Critical alerts",
            'count(ALERTS{alertstate="firing",severity="critical"}) or vector(0)',
            steps=ANY_IS_BAD,
        ),
        stat("Warnings", 'count(ALERTS{alertstate="firing",severity="warning"}) or vector(0)', steps=ANY_IS_UNUSUAL),
        stat("Nodes up", "cluster:nodes_up:count"),
        stat("Nodes down", "max(slurm_nodes_down)", steps=ANY_IS_BAD, help="In state DOWN of Slurm."),
        stat("Nodes drained", "max(slurm_nodes_drain)", steps=ANY_IS_UNUSUAL),
        stat("Jobs running", "max(slurm_jobs_running)"),
        stat("Jobs pending", "max(slurm_jobs_pending)"),
        *(replace(panel, width=COLUMNS // len(gpus)) for panel in gpus),
    )


def _alerts(cluster: Cluster) -> Row:
    firing = Target('count by (severity, alertname, instance) (ALERTS{alertstate="firing"})', "Alerts")
    return row(
        "Alerts",
        table(
            "Alerts by node",
            firing,
            width=14,
            height=8,
            links=(("instance", "node"), ("alertname", runbook(cluster, ""))),
            help="A click on a name opens its runbook.",
            empty="No alert fires",
            sort="severity",
        ),
        graph(
            "Alerts over time",
            Target(or_none('count by (severity) (ALERTS{alertstate="firing"})', "severity"), "{{severity}}"),
            width=10,
            height=8,
            stacked=True,
        ),
    )


def _gpus() -> Row:
    return row(
        "GPUs",
        graph(
            "GPUs allocated and busy",
            Target("cluster:gpus:count", "in total"),
            Target("cluster:gpus_allocated:count", "allocated"),
            Target("cluster:gpus_busy:count", "busy"),
        ),
        graph(
            "GPU utilisation",
            Target("cluster:gpu_utilisation:avg", "mean of all GPUs"),
            unit="percent",
            maximum=100,
        ),
        graph("GPU power", Target("cluster:gpu_power_watts:sum", "all GPUs"), unit="watt"),
    )


def _queue() -> Row:
    return row(
        "Queue",
        graph(
            "Jobs",
            Target("max(slurm_jobs_running)", "running"),
            Target("max(slurm_jobs_pending)", "pending"),
            width=12,
        ),
        graph(
            "Nodes by state",
            *(Target(f"max(slurm_nodes_{state})", NODE_STATES[state]) for state in PARTITION_STATES),
            width=12,
        ),
    )


def _nodes(cluster: Cluster) -> Row:
    hot = at_least(*limits(cluster))
    full = at_least(0.8, 0.95)
    count = min(cluster.host_count, 50)
    height = min(2 + count, 10)
    hottest = f"topk({count}, node:gpu_temperature_celsius:max)"
    busiest = f"topk({count}, node:cpu_busy:ratio)"
    return row(
        "Nodes",
        table(
            "Hottest nodes",
            Target(hottest, "Hottest GPU", "celsius", hot),
            Target(f"node:gpu_utilisation:avg and {hottest}", "GPU utilisation", "percent"),
            Target(f"node:gpu_power_watts:sum and {hottest}", "GPU power", "watt"),
            width=14,
            height=height,
            links=(("instance", "node"),),
        ),
        table(
            "Busiest CPUs",
            Target(busiest, "CPU", "percentunit", full),
            Target(f"node:memory_used:ratio and {busiest}", "Memory", "percentunit", full),
            width=10,
            height=height,
            links=(("instance", "node"),),
        ),
    )
