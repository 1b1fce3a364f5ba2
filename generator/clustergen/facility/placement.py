"""The rack unit of each device: from the manifest, else systems from the bottom and switches from the top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.hardware import Switch as SwitchModel
from clustergen.catalogue.systems import System
from clustergen.cluster.model import Cluster, Rack, Switch, once_per_cluster
from clustergen.cluster.power import draw_w
from clustergen.facility.model import Device, Place
from clustergen.hostlist import expand


def switches_of(cluster: Cluster) -> dict[str, tuple[Switch, ...]]:
    """The switches of each network that has any, the fabric first."""
    fabric = {"fabric": cluster.switches} if cluster.switches else {}
    return fabric | {name: switches for name, switches in cluster.other_switches.items() if switches}


@once_per_cluster
def devices(cluster: Cluster) -> Mapping[str, Device]:
    """All nodes and switches by name, nodes first, in order of the manifest."""
    places = _places(cluster)
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
                unconfirmed=_unconfirmed(model),
            )
    return all_devices


_FIGURES = {"power": ("power_max_w", "power_typ_w"), "weight": ("weight_kg",), "height": ("rack_units",)}
_STATED = {"power": "power.max", "height": "rack_units"}


def _unconfirmed(row: System | SwitchModel | None) -> frozenset[str]:
    """Figures of a row of the catalogue that no source confirms."""
    if row is None:
        return frozenset()
    used = {
        what: next((field for field in fields if getattr(row, field, None)), "") for what, fields in _FIGURES.items()
    }
    return frozenset(what for what, field in used.items() if field in row.unverified)


def _places(cluster: Cluster) -> dict[str, Place]:
    heights = {host: group.type.rack_units for group in cluster.groups for host in group.hosts}
    switches: dict[str, list[Switch]] = {}
    for several in switches_of(cluster).values():
        for switch in several:
            heights[switch.name] = switch.rack_units
            if switch.rack:
                switches.setdefault(switch.rack, []).append(switch)
    for in_rack in switches.values():
        in_rack.sort(key=lambda switch: bool(switch.nodes))  # leaves last: those of a new unit move no other switch
    places: dict[str, Place] = {}
    for rack in cluster.racks:
        places.update(_in_rack(rack, heights, [switch.name for switch in switches.get(rack.name, ())]))
    return places


def _in_rack(rack: Rack, heights: Mapping[str, int], switches: list[str]) -> Iterator[tuple[str, Place]]:
    """Devices of no height stand beside the racks. What does not fit has no place: a rule says so."""
    hosts = [host for host in rack.hosts if heights.get(host)]
    free = [True] * (rack.units + 1)
    free[0] = False
    inside = {name: heights[name] for name in (*hosts, *switches)}
    stated = {name: unit for _, name, unit in stated_places(rack, inside)}
    for name, unit in stated.items():
        free[unit : unit + heights[name]] = [False] * len(free[unit : unit + heights[name]])
        yield name, Place(rack.name, unit, heights[name], derived=False)
    for name in switches:
        if name not in stated and (top := _room(free, heights[name], from_top=True)):
            yield name, Place(rack.name, top, heights[name], derived=True)
    for name in sorted(hosts, key=lambda host: -heights[host]):
        if name not in stated and (unit := _room(free, heights[name], from_top=False)):
            yield name, Place(rack.name, unit, heights[name], derived=True)


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
