"""Alerts on UPS and PDUs: lost input, low batteries, loads near a limit."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.features.snmp.modules import used
from clustergen.features.snmp.resolved import Snmp
from clustergen.render.alerts import Alert, Topic

_LOAD = 80  # percent of a UPS's output


def topic(cluster: Cluster, snmp: Snmp) -> Topic:
    names, port = {module.name for module in used(cluster)}, snmp.port
    alerts = [
        Alert(
            "SnmpDeviceSilent", 'up{job="snmp"} == 0', "10m", "warning",
            summary="{{ $labels.instance }} does not answer SNMP",
            meaning="The device is off, not reachable from the monitoring node, or refuses the credentials; alerts on"
            " it cannot fire.",
            action=f"On the monitoring node: `curl 'localhost:{port}/snmp?target=ADDRESS&module=MODULE&auth=AUTH'`"
            " shows the reason.",
        )
    ]  # fmt: skip
    if "ups_mib" in names:
        alerts += _ups()
    if "apc_rpdu2" in names:
        alerts += _pdus()
    return Topic(
        "snmp",
        "UPS and PDUs.",
        (),
        tuple(alerts),
        look="The web page of the device shows its state and its log; compare it with the dashboard.",
        page="power",
        works="all nodes, as long as their power supplies have one feed",
        place=120,
    )


def _ups() -> Iterator[Alert]:
    yield Alert(
        "UpsOnBattery", "upsOutputSource == 5", "1m", "critical",
        summary="{{ $labels.instance }} runs on battery",
        meaning="Its input has failed; what it feeds goes off when the battery is empty.",
        action="upsEstimatedMinutesRemaining is how long it lasts. Check the feed; if it stays off, drain the nodes"
        " and shut them down.",
    )  # fmt: skip
    yield Alert(
        "UpsBatteryLow", "upsBatteryStatus > 2", "1m", "critical",
        summary="The battery of {{ $labels.instance }} is low or depleted",
        meaning="On battery, the UPS is about to switch off; otherwise it cannot bridge a failure of its input.",
        action="On battery: shut down what it feeds now. Otherwise have the battery tested.",
    )  # fmt: skip
    yield Alert(
        "UpsUnprotected", "upsOutputSource == 4 or upsOutputSource == 2", "5m", "warning",
        summary="{{ $labels.instance }} is on bypass, or its output is off",
        meaning="A failure of the input reaches what it feeds at once.",
        action="The display or web page of the UPS shows why: maintenance, overload or a fault.",
    )  # fmt: skip
    yield Alert(
        "UpsLoadHigh", f"upsOutputPercentLoad > {_LOAD}", "15m", "warning",
        summary="Line {{ $labels.upsOutputLineIndex }} of {{ $labels.instance }} is loaded to {{ $value }} %",
        meaning=f"Above {_LOAD} % the battery lasts for less time, and a redundant UPS cannot take the load of the"
        " other.",
        action="Move load to other lines or another UPS, or cap the power of GPUs.",
    )  # fmt: skip


def _pdus() -> Iterator[Alert]:
    phase = "Phase {{ $labels.rPDU2PhaseStatusIndex }} of {{ $labels.instance }}"
    yield Alert(
        "PduNearOverload", "rPDU2PhaseStatusLoadState == 3", "15m", "warning",
        summary=f"{phase} is near its limit",
        meaning="The current is above the threshold that is set on the PDU.",
        action="Move load to other phases or PDUs, or cap the power of GPUs.",
    )  # fmt: skip
    yield Alert(
        "PduOverload", "rPDU2PhaseStatusLoadState == 4", "1m", "critical",
        summary=f"{phase} is overloaded",
        meaning="The breaker may trip and switch off what it feeds.",
        action="Drain nodes of the rack, or cap the power of their GPUs, now.",
    )  # fmt: skip
