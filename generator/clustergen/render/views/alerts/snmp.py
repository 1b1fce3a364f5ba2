"""The values that the SNMP exporter reads from UPS and PDUs, and alerts on them: lost input, low batteries, loads near
a limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.features.monitoring import Snmp
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.alerts import Alert, Topic

_LOAD = 80  # percent of a UPS's output
_UPS, _RPDU2 = "1.3.6.1.2.1.33.1", "1.3.6.1.4.1.318.1.1.26"


@record
class Metric:
    """An object of a MIB by its name there, in its unit. `index`: label of the rows where it is a table's column."""

    name: str
    oid: str
    help: str
    index: str | None = None


@record
class Module:
    """The request of the exporter for a kind of device: subtrees, and the objects in them."""

    name: str
    walk: tuple[str, ...]
    metrics: tuple[Metric, ...]


_LINE, _DEVICE, _PHASE = "upsOutputLineIndex", "rPDU2DeviceStatusIndex", "rPDU2PhaseStatusIndex"
MODULES = (
    Module(
        "ups_mib",  # RFC 1628, which most UPS answer
        (f"{_UPS}.2", f"{_UPS}.4"),
        (
            Metric("upsBatteryStatus", f"{_UPS}.2.1", "1 unknown, 2 normal, 3 low, 4 depleted"),
            Metric("upsSecondsOnBattery", f"{_UPS}.2.2", "Seconds on battery"),
            Metric("upsEstimatedMinutesRemaining", f"{_UPS}.2.3", "Minutes that the battery lasts"),
            Metric("upsEstimatedChargeRemaining", f"{_UPS}.2.4", "Charge of the battery in percent"),
            Metric(
                "upsOutputSource",
                f"{_UPS}.4.1",
                "1 other, 2 none, 3 normal, 4 bypass, 5 battery, 6 booster, 7 reducer",
            ),
            Metric("upsOutputPower", f"{_UPS}.4.4.1.4", "Power of an output line in watts", _LINE),
            Metric("upsOutputPercentLoad", f"{_UPS}.4.4.1.5", "Load of an output line in percent", _LINE),
        ),
    ),
    Module(
        "apc_rpdu2",  # PowerNet-MIB: metered and switched rack PDUs of APC's second generation
        (f"{_RPDU2}.4.3.1.5", f"{_RPDU2}.6.3.1"),
        (
            Metric("rPDU2DeviceStatusPower", f"{_RPDU2}.4.3.1.5", "Power in hundredths of kilowatts", _DEVICE),
            Metric(
                "rPDU2PhaseStatusLoadState", f"{_RPDU2}.6.3.1.4", "1 low, 2 normal, 3 near overload, 4 overload", _PHASE
            ),
            Metric("rPDU2PhaseStatusCurrent", f"{_RPDU2}.6.3.1.5", "Current in tenths of amperes", _PHASE),
        ),
    ),
)
"""The modules of the tree. Names and units are those that snmp_exporter's generator makes of the MIBs."""


def modules(cluster: Cluster) -> tuple[Module, ...]:
    """Those that devices of the manifest use."""
    used = {device.module for device in cluster.of(Snmp).devices.values()} if cluster.has(Snmp) else set()
    return tuple(module for module in MODULES if module.name in used)


def metrics(cluster: Cluster) -> Iterator[str]:
    for module in modules(cluster):
        yield from (metric.name for metric in module.metrics)


def topic(cluster: Cluster) -> Topic | None:
    if not cluster.has(Snmp):
        return None
    names, port = {module.name for module in modules(cluster)}, cluster.of(Snmp).port
    alerts = [
        Alert(
            "SnmpDeviceSilent", 'up{job="snmp"} == 0', "10m", "warning",
            "{{ $labels.instance }} does not answer SNMP",
            "The device is off, not reachable from the monitoring node, or refuses the credentials; alerts on it cannot"
            " fire.",
            f"On the monitoring node: `curl 'localhost:{port}/snmp?target=ADDRESS&module=MODULE&auth=AUTH'` shows"
            " the reason.",
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
    )


def _ups() -> Iterator[Alert]:
    yield Alert(
        "UpsOnBattery", "upsOutputSource == 5", "1m", "critical",
        "{{ $labels.instance }} runs on battery",
        "Its input has failed; what it feeds goes off when the battery is empty.",
        "upsEstimatedMinutesRemaining is how long it lasts. Check the feed; if it stays off, drain the nodes and shut"
        " them down.",
    )  # fmt: skip
    yield Alert(
        "UpsBatteryLow", "upsBatteryStatus > 2", "1m", "critical",
        "The battery of {{ $labels.instance }} is low or depleted",
        "On battery, the UPS is about to switch off; otherwise it cannot bridge a failure of its input.",
        "On battery: shut down what it feeds now. Otherwise have the battery tested.",
    )  # fmt: skip
    yield Alert(
        "UpsUnprotected", "upsOutputSource == 4 or upsOutputSource == 2", "5m", "warning",
        "{{ $labels.instance }} is on bypass, or its output is off",
        "A failure of the input reaches what it feeds at once.",
        "The display or web page of the UPS shows why: maintenance, overload or a fault.",
    )  # fmt: skip
    yield Alert(
        "UpsLoadHigh", f"upsOutputPercentLoad > {_LOAD}", "15m", "warning",
        "Line {{ $labels.upsOutputLineIndex }} of {{ $labels.instance }} is loaded to {{ $value }} %",
        f"Above {_LOAD} % the battery lasts for less time, and a redundant UPS cannot take the load of the other.",
        "Move load to other lines or another UPS, or cap the power of GPUs.",
    )  # fmt: skip


def _pdus() -> Iterator[Alert]:
    phase = "Phase {{ $labels.rPDU2PhaseStatusIndex }} of {{ $labels.instance }}"
    yield Alert(
        "PduNearOverload", "rPDU2PhaseStatusLoadState == 3", "15m", "warning",
        f"{phase} is near its limit",
        "The current is above the threshold that is set on the PDU.",
        "Move load to other phases or PDUs, or cap the power of GPUs.",
    )  # fmt: skip
    yield Alert(
        "PduOverload", "rPDU2PhaseStatusLoadState == 4", "1m", "critical",
        f"{phase} is overloaded",
        "The breaker may trip and switch off what it feeds.",
        "Drain nodes of the rack, or cap the power of their GPUs, now.",
    )  # fmt: skip
