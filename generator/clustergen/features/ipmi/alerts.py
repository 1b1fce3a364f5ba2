"""Alerts on what the IPMI exporter reads from BMCs: power supplies, fans, temperatures, voltages, currents.

FreeIPMI counts a value beyond a non-critical limit as normal, one beyond a critical limit as critical.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.systems import system
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import bmc_groups
from clustergen.features.ipmi.needs import AIR
from clustergen.features.ipmi.resolved import Ipmi
from clustergen.render.alerts import Alert, Topic, for_types, one_of

_SUPPLIES = 'type=~"Power (Supply|Unit)"'
_OTHERS = 'type!~"Power (Supply|Unit)"'
_MANY, _MOST = 2, 0.8  # nodes of a rack, and share of those whose power supplies are read
_SENSORS = "ipmi_(sensor|temperature|fan_speed|voltage|current|power)_state"


def topic(cluster: Cluster, _: Ipmi) -> Topic:
    return Topic(
        "sensors",
        "Sensors of BMCs.",
        (),
        (*_sensors(), *_limits(cluster), *_supplies(cluster)),
        look="On the node: `ipmi-sensors`, and `ipmi-sel` for the event log of the BMC.",
        page="node",
        drains=True,
        works="the node and its jobs, as long as other power supplies, fans and feeds carry it",
        place=100,
    )


def _sensors() -> Iterator[Alert]:
    sensor = "{{ $labels.name }} of {{ $labels.instance }}"
    yield Alert(
        "BmcSensorCritical", f'{{__name__=~"{_SENSORS}",{_OTHERS}}} == 2', "2m", "critical",
        summary=f"Sensor {sensor} is critical",
        meaning="The BMC reports a fan, temperature, voltage or current beyond its critical limit.",
        action="`ipmi-sensors` on the node, or the web page of the BMC, shows value and limits; drain the node.",
    )  # fmt: skip
    yield Alert(
        "BmcSensorWarning", f'{{__name__=~"{_SENSORS}",{_OTHERS}}} == 1', "10m", "warning",
        summary=f"Sensor {sensor} is not normal",
        meaning="The BMC reports a state that is not critical yet, as degraded redundancy when one fan of a set has"
        " failed.",
        action="`ipmi-sensors` on the node shows the states of all sensors; replace the part that failed.",
    )  # fmt: skip
    yield Alert(
        "BmcUnreadable", 'ipmi_up{collector="ipmi"} == 0', "15m", "warning",
        summary="The sensors of {{ $labels.instance }} cannot be read",
        meaning="The node's interface to its BMC does not answer; alerts on its sensors cannot fire.",
        action="Check that /dev/ipmi0 exists (modules ipmi_si and ipmi_devintf); reset the BMC: `bmc-device"
        " --cold-reset`.",
    )  # fmt: skip


def air_limits(cluster: Cluster) -> dict[int, list[str]]:
    """Limit of the air that nodes draw in, in °C → node types: the stated one, else what makers of systems allow."""
    stated = cluster.of(Ipmi).air_inlet_c
    limits: dict[int, list[str]] = {}
    for name in dict.fromkeys(group.type.name for group in bmc_groups(cluster)):
        (kind,) = (kind for kind in cluster.node_types if kind.name == name)
        base = system(kind.system) if kind.system and kind.system not in cluster.catalogue.own_systems else None
        printed = base.inlet_c[1] if base and base.inlet_c and "inlet_c" not in base.unverified else None
        limit = stated or printed
        if limit is not None:
            limits.setdefault(limit, []).append(name)
    return limits


def _limits(cluster: Cluster) -> Iterator[Alert]:
    stated = cluster.of(Ipmi)
    for limit, names in air_limits(cluster).items():
        source = "monitoring.thresholds.air_inlet" if stated.air_inlet_c else "the maker of the system"
        yield Alert(
            "AirInletHot",
            f"max by (cluster, rack, instance) (ipmi_temperature_celsius{{{AIR},node_type{one_of(names)}}}) > {limit}",
            "5m", "warning",
            summary="{{ $labels.instance }} draws in air of {{ $value }} °C",
            meaning=f"The limit is {limit} °C, by {source}. Fans run faster, GPUs slow down, and other nodes of the"
            " row are next.",
            action="Check the cooling units, blanking panels and doors of the aisle; compare the nodes of the rack:"
            " hot air at the top alone comes from around the rack.",
            labels=for_types(names),
            look="The dashboard shows the warmest air; on the node, `ipmi-sensors --sensor-types=Temperature`.",
            page="power",
        )  # fmt: skip
    if stated.fan_speed_rpm is not None:
        yield Alert(
            "FanSlow", f"ipmi_fan_speed_rpm < {stated.fan_speed_rpm}", "2m", "warning",
            summary="Fan {{ $labels.name }} of {{ $labels.instance }} runs with {{ $value }} revolutions a minute",
            meaning=f"The limit is {stated.fan_speed_rpm}, by monitoring.thresholds.fan_speed. A fan that stops leaves"
            " the others to cool the node.",
            action="`ipmi-sensors --sensor-types=Fan` on the node shows all fans; replace the slow one.",
        )  # fmt: skip


def _supplies(cluster: Cluster) -> Iterator[Alert]:
    """Power supplies by themselves: what is left must carry the node, and a whole rack points to its feed."""
    yield Alert(
        "PowerSupplyFailed", f"ipmi_sensor_state{{{_SUPPLIES}}} > 0", "2m", "warning",
        summary="{{ $labels.name }} of {{ $labels.instance }} failed or has no input",
        meaning="The node may run without redundant power: the next failure, or the loss of a feed, switches it off.",
        action="Check the cord and its outlet. If other nodes of the rack report the same, check the feed; otherwise"
        " replace the power supply.",
        look="On the node: `ipmi-sensors --sensor-types=Power_Supply` and `ipmi-sel | tail`.",
    )  # fmt: skip
    if not cluster.racks:
        return
    by_node = f'max by (cluster, rack, instance) (ipmi_sensor_state{{{_SUPPLIES},rack!=""}})'
    failed = f"count by (cluster, rack) ({by_node} > 0)"
    yield Alert(
        "RackFeedLost",
        f"{failed} >= {_MANY}\nand\n{failed} / count by (cluster, rack) ({by_node}) > {_MOST}", "2m", "critical",
        summary="Power supplies of {{ $value }} nodes in rack {{ $labels.rack }} have failed or have no input",
        meaning="One feed or PDU of the rack is off. The other carries all of its load; alerts on single power"
        " supplies of the rack are inhibited.",
        action="Check the breaker and the PDU of each feed. Then compare the rack's power with what the remaining feed"
        " may carry, and cap or drain nodes if it is more.",
        look="The dashboard shows the rack's power; on a node, `ipmi-sensors` shows which supply has no input.",
        page="power",
    )  # fmt: skip
