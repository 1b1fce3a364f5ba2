"""Power and heat, by rack where the manifest has racks."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.dcgm import limits
from clustergen.cluster.model import Cluster
from clustergen.render.alerts import BLANK_COUNT
from clustergen.render.dashboards import Dashboard, Panel, Step, Target, graph, row, stat

_MOST = 20
_WATTS = f"max by (rack, node_type, instance, gpu) (DCGM_FI_DEV_POWER_USAGE < {BLANK_COUNT})"
_DEGREES = "max by (rack, instance) (DCGM_FI_DEV_GPU_TEMP < 200)"


def dashboard(cluster: Cluster) -> Dashboard:
    rows = [row("Now", *_summary())]
    if cluster.racks:
        rows.append(row("Racks", *_racks()))
    rows += [row("Nodes", *_nodes(cluster))]
    return Dashboard("power", "Power and heat", "Power and temperature of GPUs and nodes.", tuple(rows), place=90)


def _summary() -> Iterator[Panel]:
    yield stat("GPU power", "cluster:gpu_power_watts:sum", "watt")
    highest = "max_over_time(cluster:gpu_power_watts:sum[$__range])"
    yield stat("Highest GPU power", highest, "watt", help="In the time range.")
    yield stat("GPU energy in a day", "sum_over_time(cluster:gpu_power_watts:sum[1d:1m]) / 60", "watth")
    yield stat("Hottest GPU", "max(node:gpu_temperature_celsius:max)", "celsius")


def _racks() -> Iterator[Panel]:
    yield graph(
        "Power of nodes by rack",
        Target("sum by (rack) (ipmi_dcmi_power_consumption_watts)", "{{rack}}"),
        unit="watt",
        help="What the nodes' BMCs measure; an alert fires at 80 % of what the feeds may carry.",
    )
    yield graph("GPU power by rack", Target(f"sum by (rack) ({_WATTS})", "{{rack}}"), unit="watt")
    yield graph("Hottest GPU by rack", Target(f"max by (rack) ({_DEGREES})", "{{rack}}"), unit="celsius", minimum=None)


def _nodes(cluster: Cluster) -> Iterator[Panel]:
    warning, critical = limits(cluster)
    yield graph(
        "GPU power by node type",
        Target("sum by (node_type) (node:gpu_power_watts:sum)", "{{node_type}}"),
        unit="watt",
        stacked=True,
    )
    yield graph(
        "Hottest nodes",
        Target(f"topk({_MOST}, node:gpu_temperature_celsius:max)", "{{instance}}"),
        unit="celsius",
        steps=(Step(None, "green"), Step(warning, "yellow"), Step(critical, "red")),
        minimum=None,
    )
    yield graph(
        "Nodes whose GPUs draw most", Target(f"topk({_MOST}, node:gpu_power_watts:sum)", "{{instance}}"), unit="watt"
    )
