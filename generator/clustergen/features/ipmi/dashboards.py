"""Measurements of BMCs, as the IPMI exporter reads them: rows of the pages of power and of nodes."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.ipmi.needs import AIR, POWER, STATES
from clustergen.render.dashboards import CHOSEN, NODE_PAGE, PageRow, Panel, Row, Step, Target, graph, row, table

_MOST = 20
_STATE_STEPS = (Step(None, "green"), Step(1, "yellow"), Step(2, "red"))


def rows(_cluster: Cluster) -> tuple[PageRow, ...]:
    return PageRow("power", _of_cluster()), PageRow("node", _of_node(CHOSEN))


def _bad(chosen: str) -> Panel:
    beyond = " or ".join(f"{name}{{{chosen}}} > 0" for name in STATES)
    return table(
        "Sensors that are not normal",
        Target(f"max by (instance, name, type) ({beyond})", "State", steps=_STATE_STEPS),
        words=((1, "warning"), (2, "critical")),
        help="As the BMC reports them.",
        empty="All sensors that were read are normal",
        links=NODE_PAGE,
    )


def _of_cluster() -> Row:
    return row(
        "Sensors of nodes",
        _bad(""),
        graph(
            "Warmest air at the inlet",
            Target(f"topk({_MOST}, max by (instance) (ipmi_temperature_celsius{{{AIR}}}))", "{{instance}}"),
            unit="celsius",
            minimum=None,
        ),
        graph(
            "Nodes that draw most",
            Target(f"topk({_MOST}, {POWER})", "{{instance}}"),
            unit="watt",
            help="What BMCs measure, in contrast to the power of GPUs alone.",
        ),
    )


def _of_node(chosen: str) -> Row:
    return row(
        "Sensors of the BMC",
        _bad(chosen),
        graph(
            "Temperatures",
            Target(f"ipmi_temperature_celsius{{{chosen}}}", "{{instance}} {{name}}"),
            unit="celsius",
            minimum=None,
        ),
        graph("Fans", Target(f"ipmi_fan_speed_rpm{{{chosen}}}", "{{instance}} {{name}}"), unit="rotrpm"),
        graph(
            "Power",
            Target(f"{POWER}{{{chosen}}}", "{{instance}} in total"),
            Target(f"ipmi_power_watts{{{chosen}}}", "{{instance}} {{name}}"),
            unit="watt",
        ),
    )
