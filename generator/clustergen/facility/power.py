"""The loads of racks and room, the capacity of feeds and UPS, and the cooling; in W, and VA by name.

Loads are what devices draw at the wall at most. The maximum of a system includes its adapters and their modules, that
of a switch a module in every cage; so modules are counted once, with the device that feeds them. Compute trays count as
the whole rack that they are sold in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean

from clustergen.catalogue.facility import RackSystem, airflow_cfm, rack_system_of
from clustergen.catalogue.systems import system
from clustergen.cluster.facility import Facility, Ups
from clustergen.cluster.model import Circuit, Cluster, Rack, once_per_cluster
from clustergen.facility.model import Device
from clustergen.facility.placement import devices
from clustergen.records import record


@record
class Load:
    """The sums over some devices. What nobody knows counts nothing, and is named."""

    devices: tuple[Device, ...]
    watts: int
    units: int
    weight_kg: float
    air_cfm: float
    liquid_w: float  # heat that leaves by liquid
    without_power: tuple[str, ...]
    gpus_only: tuple[str, ...]  # devices of whose power only that of the GPUs is known
    without_weight: tuple[str, ...]
    unconfirmed: frozenset[str]  # power, weight, height: sums with a figure that no source confirms

    @property
    def air_w(self) -> float:
        """Heat that leaves by air."""
        return self.watts - self.liquid_w


@record
class RackLoad:
    """A rack, and the sums over its devices."""

    rack: Rack
    load: Load


@record
class Feed:
    """One feed of a rack: A1, B1, A2 … with redundant feeds, else A1, A2 …"""

    name: str
    side: str  # A, B, or empty
    circuit: Circuit

    @property
    def breaker_va(self) -> float:
        return apparent_va(self.circuit)

    @property
    def continuous_va(self) -> float:
        """The load that the feed carries continuously."""
        return self.breaker_va * self.circuit.derate


@record
class FeedLoad:
    """A feed with what it carries, and what it carries after the other side has failed."""

    feed: Feed
    normal_w: float
    failed_w: float | None  # None: the rack has no second side
    power_factor: float

    @property
    def normal(self) -> float:
        """Load by what the feed may carry for hours: 1 is the limit, not the rating of the breaker."""
        return self.normal_w / self.power_factor / self.feed.continuous_va

    @property
    def failed(self) -> float | None:
        return None if self.failed_w is None else self.failed_w / self.power_factor / self.feed.continuous_va

    @property
    def amps(self) -> float:
        """Current of each phase, with the load spread evenly over the phases."""
        circuit = self.feed.circuit
        return self.normal_w / self.power_factor / circuit.volts / _roots(circuit)


def _roots(circuit: Circuit) -> float:
    return math.sqrt(3) if circuit.phases == 3 else 1.0


def apparent_va(circuit: Circuit) -> float:
    """Rating of one breaker in VA: V x A with one phase, sqrt(3) x V (line to line) x A with three."""
    return circuit.volts * circuit.amps * _roots(circuit)


def continuous_w(circuit: Circuit, power_factor: float) -> float:
    """Watts that one such feed carries for hours: rating x derate x power factor."""
    return apparent_va(circuit) * circuit.derate * power_factor


def feeds(rack: Rack) -> tuple[Feed, ...]:
    """The feeds of a rack in order; redundant ones alternate between the sides A and B."""
    circuits = [circuit for circuit in rack.circuits for _ in range(circuit.count)]
    if not rack.redundant_feeds:
        return tuple(Feed(f"A{number}", "", circuit) for number, circuit in enumerate(circuits, 1))
    sides = [("AB"[number % 2], number // 2 + 1) for number in range(len(circuits))]
    return tuple(
        Feed(f"{side}{number}", side, circuit) for (side, number), circuit in zip(sides, circuits, strict=True)
    )


def capacity_w(rack: Rack, power_factor: float) -> float:
    """Watts that the feeds carry for hours; with redundant feeds, those of the weaker side alone."""
    all_feeds = feeds(rack)
    total = sum(feed.continuous_va for feed in all_feeds)
    if rack.redundant_feeds:
        side = sum(feed.continuous_va for feed in all_feeds if feed.side == "A")
        total = min(side, total - side)
    return total * power_factor


def feed_loads(rack: Rack, watts: float, power_factor: float) -> Iterator[FeedLoad]:
    """The load of each feed. Equal feeds carry equal parts, feeds of several ratings parts by their rating."""
    all_feeds = feeds(rack)
    total = sum(feed.continuous_va for feed in all_feeds)
    by_side = {side: sum(feed.continuous_va for feed in all_feeds if feed.side == side) for side in ("A", "B")}
    for feed in all_feeds:
        failed = watts * feed.continuous_va / by_side[feed.side] if feed.side and by_side["B"] else None
        yield FeedLoad(feed, watts * feed.continuous_va / total, failed, power_factor)


@once_per_cluster
def rack_loads(cluster: Cluster) -> tuple[RackLoad, ...]:
    """Each rack with the sums over its devices."""
    if not cluster.racks:
        return ()
    inside: dict[str, list[Device]] = {rack.name: [] for rack in cluster.racks}
    for device in devices(cluster).values():
        if device.rack in inside:
            inside[device.rack].append(device)
    partial, shares = _partial(cluster), _shares(cluster)
    return tuple(RackLoad(rack, _sums(inside[rack.name], partial, shares)) for rack in cluster.racks)


@once_per_cluster
def room_load(cluster: Cluster) -> Load:
    """All nodes and switches, in racks or beside them."""
    return _sums(devices(cluster).values(), _partial(cluster), _shares(cluster))


def _shares(cluster: Cluster) -> dict[str, float]:
    """Rack → the fraction of its nodes' heat that leaves by its loop, where the manifest states it."""
    loops = cluster.of(Facility).loops.values()
    return {rack: loop.share for loop in loops if loop.share is not None for rack in loop.racks}


def _partial(cluster: Cluster) -> frozenset[str]:
    """Nodes whose maximum is not known, but that of their GPUs."""
    groups = (group for group in cluster.groups if group.type.gpus and group.type.power_max_w is None)
    return frozenset(host for group in groups for host in group.hosts)


def _sums(several: Iterable[Device], partial: frozenset[str], shares: Mapping[str, float]) -> Load:
    several = tuple(several)
    alone = [device for device in several if whole_rack(device) is None]
    whole = Counter(rack for device in several if (rack := whole_rack(device)))
    sold = {rack: -(-trays // rack.trays) for rack, trays in whole.items()}
    keys = [(device.kind, device.model, device.power_w, shares.get(device.rack or "")) for device in alone]
    heat = {key: _heat(device, key[3]) for key, device in zip(keys, alone, strict=True)}
    of_each = [heat[key] for key in keys]
    share_of = {rack: rack.liquid_share_pct / 100 for rack in whole}
    stated = {
        rack: [shares.get(one.rack or "", share_of[rack]) for one in several if whole_rack(one) == rack]
        for rack in whole
    }
    liquid = {rack: count * rack.power_max_w * fmean(stated[rack]) for rack, count in sold.items()}
    return Load(
        devices=several,
        watts=sum(device.power_w or 0 for device in alone)
        + sum(count * rack.power_max_w for rack, count in sold.items()),
        units=sum(device.height for device in several)
        + sum(count * (rack.switch_trays + rack.shelves) for rack, count in sold.items()),
        weight_kg=sum(device.weight_kg or 0 for device in alone)
        + sum(count * rack.weight_kg for rack, count in sold.items()),
        air_cfm=sum(air for air, _ in of_each)
        + sum(airflow_cfm(count * rack.power_max_w - liquid[rack]) for rack, count in sold.items()),
        liquid_w=sum(watts for _, watts in of_each) + sum(liquid.values()),
        without_power=tuple(device.name for device in alone if device.power_w is None),
        gpus_only=tuple(device.name for device in alone if device.name in partial and device.power_w is not None),
        without_weight=tuple(device.name for device in alone if device.weight_kg is None),
        unconfirmed=frozenset(figure for device in several for figure in _unconfirmed(device)),
    )


def whole_rack(device: Device) -> RackSystem | None:
    """The rack that a tray is sold with: its figures include switch trays, power shelves and the cabinet."""
    return rack_system_of(device.model) if device.kind == "node" and device.model else None


def _unconfirmed(device: Device) -> frozenset[str]:
    """Of a tray, its height alone: power and weight are those of the whole rack."""
    return device.unconfirmed & {"height"} if whole_rack(device) else device.unconfirmed


def _heat(device: Device, share: float | None) -> tuple[float, float]:
    """Cooling air in CFM, as printed by the maker where it is, and the watts that leave by liquid.

    `share`: fraction that leaves by the loop of the node's rack, where the manifest states it.
    """
    watts = device.power_w or 0
    base = system(device.model) if device.kind == "node" and device.model else None
    stated = share if device.kind == "node" else None
    liquid = watts * (((base and base.liquid_share_pct) or 0) / 100 if stated is None else stated)
    printed = base.airflow_cfm if base and stated is None else None
    return printed or airflow_cfm(watts - liquid), liquid


def run_time_minutes(ups: Ups, watts: float) -> float | None:
    """Run time at that load: the minutes at rated power x rated power / load. None where no minutes are stated.

    Batteries give more energy when they are discharged more slowly, so below rated power the maker's table shows more.
    """
    if ups.minutes is None or not watts:
        return None
    return ups.minutes * ups.power_w / watts


def fit_of(load: Load, limit_w: float) -> int:
    """How many of the rack's hungriest devices stay within the limit, beside all others of the rack."""
    most = max((device.power_w or 0 for device in load.devices), default=0)
    if not most:
        return 0
    count = sum(device.power_w == most for device in load.devices)
    return max(0, min(count, int((limit_w - (load.watts - count * most)) // most)))
