"""Measurements of BMCs, as the IPMI exporter reads them: rows of the pages of power and of nodes."""

from __future__ import annotations

from clustergen.render.dashboards import NODE_PAGE, Panel, Row, Step, Target, graph
from clustergen.render.views.alerts.power import METRIC

METRICS = (
    "ipmi_up",
    "ipmi_sensor_state",
    "ipmi_temperature_state",
    "ipmi_temperature_celsius",
    "ipmi_fan_speed_state",
    "ipmi_fan_speed_rpm",
    "ipmi_voltage_state",
    "ipmi_current_state",
    "ipmi_power_state",
    "ipmi_power_watts",
    METRIC,
)
"""Metrics of the IPMI exporter that panels and alerts use."""
_MOST = 20
_STATES = tuple(name for name in METRICS if name.endswith("_state"))
_STATE_STEPS = (Step(None, "green"), Step(1, "yellow"), Step(2, "red"))
_AIR = 'name=~"(?i).*(inlet|intake|ambient).*"'


def _bad(chosen: str) -> Panel:
    beyond = " or ".join(f"{name}{{{chosen}}} > 0" for name in _STATES)
    return Panel(
        "Sensors that are not normal",
        "table",
        (Target(f"max by (instance, name, type) ({beyond})", "State", steps=_STATE_STEPS),),
        words=((1, "warning"), (2, "critical")),
        help="As the BMC reports them.",
        empty="All sensors that were read are normal",
        links=NODE_PAGE,
    )


def of_cluster() -> Row:
    return Row(
        "Sensors of nodes",
        (
            _bad(""),
            graph(
                "Warmest air at the inlet",
                Target(f"topk({_MOST}, max by (instance) (ipmi_temperature_celsius{{{_AIR}}}))", "{{instance}}"),
                unit="celsius",
            ),
            graph(
                "Nodes that draw most",
                Target(f"topk({_MOST}, {METRIC})", "{{instance}}"),
                unit="watt",
                minimum=0,
                help="What BMCs measure, in contrast to the power of GPUs alone.",
            ),
        ),
    )


def of_node(chosen: str) -> Row:
    return Row(
        "Sensors of the BMC",
        (
            _bad(chosen),
            graph(
                "Temperatures", Target(f"ipmi_temperature_celsius{{{chosen}}}", "{{instance}} {{name}}"), unit="celsius"
            ),
            graph("Fans", Target(f"ipmi_fan_speed_rpm{{{chosen}}}", "{{instance}} {{name}}"), unit="rotrpm", minimum=0),
            graph(
                "Power",
                Target(f"{METRIC}{{{chosen}}}", "{{instance}} in total"),
                Target(f"ipmi_power_watts{{{chosen}}}", "{{instance}} {{name}}"),
                unit="watt",
                minimum=0,
            ),
        ),
    )
