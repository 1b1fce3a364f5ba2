"""The values that the SNMP exporter reads from UPS, PDUs and sensors."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.snmp.resolved import Snmp
from clustergen.records import record

UNIT = "prometheus-snmp-exporter.service"
FILES = "/etc/prometheus-exporters/snmp*.yml"
"""The tree's modules, the secret with the credentials, and the site's files."""
AUTHS = FILES.replace("*", "-auths")

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


_SENSOR = "1.3.6.1.2.1.99.1.1.1"
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
    Module(
        "entity_sensor",  # RFC 3433, by which switches, PDUs and units of the cooling list their sensors
        (_SENSOR,),
        (
            Metric(
                "entPhySensorType",
                f"{_SENSOR}.1",
                "1 other, 2 unknown, 3 V AC, 4 V DC, 5 A, 6 W, 7 Hz, 8 degrees Celsius, 9 percent, 10 revolutions a"
                " minute, 11 cubic metres a minute, 12 true or false",
                "entPhysicalIndex",
            ),
            Metric("entPhySensorPrecision", f"{_SENSOR}.3", "Decimal places of the value", "entPhysicalIndex"),
            Metric("entPhySensorValue", f"{_SENSOR}.4", "Value without its decimal point", "entPhysicalIndex"),
            Metric(
                "entPhySensorOperStatus", f"{_SENSOR}.5", "1 ok, 2 unavailable, 3 not operational", "entPhysicalIndex"
            ),
        ),
    ),
)
"""The modules of the tree. Names and units are those that snmp_exporter's generator makes of the MIBs."""


def used(cluster: Cluster) -> tuple[Module, ...]:
    """The modules that devices of the manifest use."""
    used = {device.module for device in cluster.of(Snmp).devices.values()} if cluster.has(Snmp) else set()
    return tuple(module for module in MODULES if module.name in used)
