"""Answers of UPS and PDUs by SNMP: a row of the page of power."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import PageRow, Row, Step, Target, graph, row, table

_SOURCES = ((1, "other"), (2, "none"), (3, "normal"), (4, "bypass"), (5, "battery"), (6, "booster"), (7, "reducer"))
_STEPS = (Step(None, "yellow"), Step(3, "green"), Step(4, "yellow"), Step(5, "red"), Step(6, "yellow"))


def rows(_cluster: Cluster) -> tuple[PageRow, ...]:
    return (PageRow("power", _of_cluster()),)


def _of_cluster() -> Row:
    return row(
        "UPS and PDUs",
        table(
            "Output of each UPS",
            Target("max by (instance) (upsOutputSource)", "Source", steps=_STEPS),
            words=_SOURCES,
        ),
        graph(
            "Minutes that batteries last",
            Target("max by (instance) (upsEstimatedMinutesRemaining)", "{{instance}}"),
            unit="m",
            help="As the UPS estimates it for the load of the moment.",
            links=(),
        ),
        graph(
            "Load of UPS",
            Target("max by (instance) (upsOutputPercentLoad)", "{{instance}}"),
            unit="percent",
            help="Of the most loaded output line.",
            links=(),
        ),
        graph(
            "Power of UPS and PDUs",
            Target("sum by (instance) (upsOutputPower)", "{{instance}}"),
            Target("sum by (instance) (rPDU2DeviceStatusPower) * 10", "{{instance}}"),
            unit="watt",
            links=(),
        ),
        graph(
            "Current of PDU phases",
            Target("rPDU2PhaseStatusCurrent / 10", "{{instance}} phase {{rPDU2PhaseStatusIndex}}"),
            unit="amp",
            links=(),
        ),
    )
