"""The rack unit of each device: from the manifest, else systems from the bottom and switches from the top.

Racks that are sold whole come with NVLink switch trays and power shelves in a fixed order, with slots for the trays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from clustergen.catalogue.facility import RackSystem, rack_system_of
from clustergen.catalogue.hardware import Switch as SwitchModel
from clustergen.catalogue.hardware import switch as switch_model
from clustergen.catalogue.systems import System
from clustergen.cluster.model import Cluster, Rack, Switch, once_per_cluster
from clustergen.cluster.power import draw_w
from clustergen.facility.model import Device, Fixture, Place
from clustergen.hostlist import expand
from clustergen.records import record


def switches_of(cluster: Cluster) -> dict[str, tuple[Switch, ...]]:
    """The switches of each network that has any, the fabric first."""
    fabric = {"fabric": cluster.switches} if cluster.switches else {}
    return fabric | {name: switches for name, switches in cluster.other_switches.items() if switches}


@once_per_cluster
def devices(cluster: Cluster) -> Mapping[str, Device]:
    """All nodes and switches by name, nodes first, in order of the manifest."""
    places = _placement(cluster).places
    racks = {host: rack.name for rack in cluster.racks for host in rack.hosts}
    view = cluster.catalogue
    all_devices: dict[str, Device] = {}
    for group in cluster.groups:
        node_type = group.type
        base = view.system(node_type.system) if node_type.system else None
        weight = base.weight_kg if base else None
        stated = [what for what, field in _STATED.items() if field in node_type.stated]
        unconfirmed = _unconfirmed(base) - frozenset(stated)
        for host in group.hosts:
            all_devices[host] = Device(
                name=host,
                kind="node",
                model=node_type.system or "",
                title=node_type.title,
                power_w=draw_w(node_type),
                weight_kg=weight,
                height=node_type.rack_units,
                rack=racks.get(host),
                place=places.get(host),
                type=node_type.name,
                depth_mm=node_type.depth_mm,
                unconfirmed=unconfirmed,
            )
    for switches in switches_of(cluster).values():
        for switch in switches:
            model = view.switch(switch.model) if switch.model else None
            all_devices[switch.name] = Device(
                name=switch.name,
                kind="switch",
                model=switch.model or "",
                title=model.model if model else switch.model or "",
                power_w=switch.power_w,
                weight_kg=model.weight_kg if model else None,
                height=switch.rack_units,
                rack=switch.rack,
                place=places.get(switch.name),
                type="",
                depth_mm=model.depth_mm if model else None,
                unconfirmed=_unconfirmed(model),
            )
    return all_devices


_FIGURES = {
    "power": ("power_max_w", "power_typ_w"),
    "weight": ("weight_kg",),
    "height": ("rack_units",),
    "depth": ("depth_mm",),
}
_STATED = {"power": "power.max", "height": "rack_units", "depth": "depth"}


def _unconfirmed(row: System | SwitchModel | None) -> frozenset[str]:
    """Figures of a row of the catalogue that no source confirms."""
    if row is None:
        return frozenset()
    used = {
        what: next((field for field in fields if getattr(row, field, None)), "") for what, fields in _FIGURES.items()
    }
    return frozenset(what for what, field in used.items() if field in row.unverified)


def fixtures(cluster: Cluster) -> Mapping[str, tuple[Fixture, ...]]:
    """Rack → the switch trays and power shelves that it is sold with, from the bottom up."""
    return _placement(cluster).fixtures


@record
class _Placement:
    places: Mapping[str, Place]
    fixtures: Mapping[str, tuple[Fixture, ...]]


@once_per_cluster
def _placement(cluster: Cluster) -> _Placement:
    heights = {host: group.type.rack_units for group in cluster.groups for host in group.hosts}
    whole = {
        host: rack_system
        for group in cluster.groups
        if group.type.system and (rack_system := rack_system_of(group.type.system))
        for host in group.hosts
    }
    switches: dict[str, list[Switch]] = {}
    for several in switches_of(cluster).values():
        for switch in several:
            heights[switch.name] = switch.rack_units
            if switch.rack:
                switches.setdefault(switch.rack, []).append(switch)
    for several_in_rack in switches.values():
        several_in_rack.sort(key=lambda switch: switch.is_leaf)  # leaves last: those of a new unit move no other switch
    places: dict[str, Place] = {}
    parts: dict[str, tuple[Fixture, ...]] = {}
    for rack in cluster.racks:
        hosts = [host for host in rack.hosts if heights.get(host)]
        in_rack = [switch.name for switch in switches.get(rack.name, ())]
        one = _Units(rack, {name: heights[name] for name in (*hosts, *in_rack)})
        trays: dict[RackSystem, list[str]] = {}
        for host in hosts:
            if host in whole:
                trays.setdefault(whole[host], []).append(host)
        if trays:
            parts[rack.name] = tuple(one.sold_whole(trays))
        one.rest(hosts, in_rack)
        places.update(one.places)
    return _Placement(places, parts)


class _Units:
    """The units of one rack while devices are placed. What does not fit has no place: a rule says so."""

    def __init__(self, rack: Rack, heights: Mapping[str, int]) -> None:
        self.rack, self.heights = rack, heights
        self.free = [False, *[True] * rack.units]
        self.places: dict[str, Place] = {}
        for _, name, unit in stated_places(rack, heights):
            self._put(name, unit, derived=False)

    def _put(self, name: str, unit: int, *, derived: bool = True) -> None:
        height = self.heights[name]
        self.free[unit : unit + height] = [False] * len(self.free[unit : unit + height])
        self.places[name] = Place(self.rack.name, unit, height, derived)

    def rest(self, hosts: Sequence[str], switches: Sequence[str]) -> None:
        """Devices that have no place yet: switches from the top, then systems from the bottom, the highest first.

        Devices of no height stand beside the racks.
        """
        heights = self.heights
        for name in switches:
            if name not in self.places and (top := _room(self.free, heights[name], from_top=True)):
                self._put(name, top)
        for name in sorted(hosts, key=lambda host: -heights[host]):
            if name not in self.places and (unit := _room(self.free, heights[name], from_top=False)):
                self._put(name, unit)

    def sold_whole(self, trays: Mapping[RackSystem, Sequence[str]]) -> Iterator[Fixture]:
        """Trays in the slots of their rack, and the parts between them."""
        numbers: Counter[str] = Counter()
        for kind, hosts in trays.items():
            slots = kind.slots * -(-len(hosts) // kind.trays)
            start = self._start(slots, hosts)
            waiting = [host for host in hosts if host not in self.places]
            for offset, slot in enumerate(slots):
                unit = start + offset if start else 0
                if slot != "compute":
                    unit = unit or _room(self.free, 1, from_top=False)
                    numbers[slot] += 1
                    yield _fixture(kind, slot, self.rack.name, numbers[slot], unit)
                elif start and waiting and self.free[unit]:
                    self._put(waiting.pop(0), unit)
                if unit:
                    self.free[unit] = False  # an empty slot, too: nothing else fits its rails

    def _start(self, slots: Sequence[str], hosts: Sequence[str]) -> int:
        """The lowest unit from which all slots are free, but for trays that have a place in one; 0: there is none."""
        stated = {self.places[host].unit for host in hosts if host in self.places}
        if any(self.heights[host] != 1 for host in hosts):
            return 0
        for start in range(1, len(self.free) - len(slots) + 1):
            trays = {start + offset for offset, slot in enumerate(slots) if slot == "compute"}
            if stated <= trays and all(self.free[unit] or unit in stated for unit in range(start, start + len(slots))):
                return start
        return 0


def _fixture(kind: RackSystem, slot: str, rack: str, number: int, unit: int) -> Fixture:
    place = Place(rack, unit, 1, derived=True) if unit else None
    doubt = {"place"} if "layout" in kind.unverified else set()
    if slot == "shelf":
        unconfirmed = frozenset(doubt)
        return Fixture(
            name=f"{rack}-shelf{number}",
            kind="shelf",
            title="power shelf",
            watts=kind.shelf_w,
            rack=rack,
            place=place,
            inlet=kind.inlet,
            unconfirmed=unconfirmed,
        )
    tray = switch_model(kind.switch)
    watts = (tray and (tray.power_max_w or tray.power_typ_w)) or 0
    if "power" in _unconfirmed(tray):
        doubt.add("power")
    title = tray.model if tray else "NVLink switch tray"
    return Fixture(
        name=f"{rack}-nvlink{number}",
        kind="switch",
        title=title,
        watts=watts,
        rack=rack,
        place=place,
        inlet="",
        unconfirmed=frozenset(doubt),
    )


def stated_places(rack: Rack, heights: Mapping[str, int]) -> Iterator[tuple[str, str, int]]:
    """Entry of `places`, device and its lowest unit: those of an entry that are in this rack are stacked upwards.

    `heights`: units of each device in the rack.
    """
    for folded, unit in rack.places.items():
        for name in expand(folded):
            if name in heights:
                yield folded, name, unit
                unit += heights[name]


def _room(free: list[bool], height: int, *, from_top: bool) -> int:
    """The lowest unit of the first gap that is high enough, taken from now on; 0 where there is none."""
    starts = range(1, len(free) - height + 1)
    for start in reversed(starts) if from_top else starts:
        if all(free[start : start + height]):
            free[start : start + height] = [False] * height
            return start
    return 0
