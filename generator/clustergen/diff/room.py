"""Changes in the machine room between two trees: devices, cables, loads, and nodes that have to be recabled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from clustergen.diff.room_tables import Cable, Device, Feed, Part, Tables
from clustergen.records import record

Kind = Literal["add", "move", "replace", "remove"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_BMC = "bmc"  # the network that no job uses


class CableChange(NamedTuple):
    """A cable to add or remove; to move: its lower end stays; to replace: both ends stay, and it is too short or of
    another kind.
    """

    kind: Kind
    old: Cable | None
    new: Cable | None

    @property
    def cable(self) -> Cable:
        either = self.new or self.old
        assert either is not None
        return either


class DeviceChange(NamedTuple):
    """A device to add, move to another place, replace by another model, or remove."""

    kind: Kind
    name: str
    old: Device | None
    new: Device | None

    @property
    def device(self) -> Device:
        either = self.new or self.old
        assert either is not None
        return either


class FeedChange(NamedTuple):
    """The load of a feed; None on a side that has no such feed, or on which the load is not known."""

    name: str
    old: Feed | None
    new: Feed | None


class PortsLeft(NamedTuple):
    """Free ports for nodes on the leaves of a network."""

    network: str
    old: int | None
    new: int | None


@record
class RoomChanges:
    """All of it, and what follows for nodes that exist before and after."""

    devices: tuple[DeviceChange, ...] = ()
    cables: tuple[CableChange, ...] = ()
    feeds: tuple[FeedChange, ...] = ()
    ports_left: tuple[PortsLeft, ...] = ()
    parts: Mapping[Part, int] = {}
    """How many more are needed, or fewer, by line of the bill of materials; empty where a tree has none."""
    specified: int = 0
    """Cables whose kind or length only one side knows."""
    longer: int = 0
    """Cables for which a shorter one would do: they stay."""
    renamed: Mapping[str, str] = {}
    """Previous → new name of machines that stay in their place, with their cables."""
    recabled: tuple[str, ...] = ()
    """Nodes that lose a link or their place meanwhile."""
    recabled_bmc: tuple[str, ...] = ()
    """Nodes of which only the BMC's cable changes."""
    narrowed: tuple[str, ...] = ()
    """Switches with fewer uplinks meanwhile."""
    uncompared: str = ""
    """The side without tables of the machine room; nothing else is set then."""

    def count_cables(self, kind: Kind) -> int:
        return sum(change.kind == kind for change in self.cables)

    def count_devices(self, kind: Kind, *, only_switches: bool = False) -> int:
        return sum(change.kind == kind and (change.device.is_switch or not only_switches) for change in self.devices)

    @property
    def transceivers(self) -> tuple[int, int]:
        """To add and to remove, each model for itself."""
        counts = [count for part, count in self.parts.items() if part.category == "module"]
        return sum(n for n in counts if n > 0), -sum(n for n in counts if n < 0)


def room_changes(old: Tables, new: Tables, renamed: Mapping[str, str] = MappingProxyType({})) -> RoomChanges | None:
    """None where the machine room stays as it is. `renamed`: previous → new name of machines."""
    if old.files == new.files or not any(_tables(side) for side in (old, new)):
        return None
    if not (_tables(old) and _tables(new)):
        return RoomChanges(uncompared="old" if _tables(new) else "new")
    old = old.with_names(renamed)
    cables, specified, longer = _cables(old, new)
    names = {before: after for before, after in renamed.items() if after in new.devices}
    devices = tuple(_devices(old, new))
    feeds = tuple(_feeds(old, new))
    parts = _parts(old, new)
    if not (cables or devices or feeds or parts or specified or longer or names):
        return None
    recabled, recabled_bmc, narrowed = _interrupted(old, new, cables, devices)
    return RoomChanges(
        devices=devices,
        cables=cables,
        feeds=feeds,
        ports_left=_ports_left(old, new, cables),
        parts=parts,
        specified=specified,
        longer=longer,
        recabled=recabled,
        recabled_bmc=recabled_bmc,
        narrowed=narrowed,
        renamed=names,
    )


def _tables(side: Tables) -> bool:
    return "devices.csv" in side.files or "cables.csv" in side.files


def _cables(old: Tables, new: Tables) -> tuple[tuple[CableChange, ...], int, int]:
    """The changes, and how many cables differ without one: those specified on one side, and those that are longer."""
    if old.files.get("cables.csv") == new.files.get("cables.csv"):
        return (), 0, 0
    changes: list[CableChange] = []
    specified = longer = 0
    for end, cable in new.cables.items():
        previous = old.cables.get(end)
        if previous is None:
            changes.append(CableChange("add", None, cable))
        elif previous.b != cable.b:
            changes.append(CableChange("move", previous, cable))
        elif (previous.medium, previous.length) == (cable.medium, cable.length):
            continue
        elif not (previous.medium and cable.medium and previous.length and cable.length):
            specified += 1
        elif previous.medium == cable.medium and previous.metres >= cable.metres:
            longer += 1
        else:
            changes.append(CableChange("replace", previous, cable))
    changes += [CableChange("remove", cable, None) for end, cable in old.cables.items() if end not in new.cables]
    return tuple(sorted(changes, key=lambda change: KINDS.index(change.kind))), specified, longer


def _devices(old: Tables, new: Tables) -> Iterable[DeviceChange]:
    for name, device in new.devices.items():
        previous = old.devices.get(name)
        if previous is None:
            yield DeviceChange("add", name, None, device)
        elif previous.model != device.model:
            yield DeviceChange("replace", name, previous, device)
        elif previous.rack and device.rack and previous.place != device.place:  # else the place is only stated
            yield DeviceChange("move", name, previous, device)
    for name, device in old.devices.items():
        if name not in new.devices:
            yield DeviceChange("remove", name, device, None)


def _feeds(old: Tables, new: Tables) -> Iterable[FeedChange]:
    if not (old.has_loads and new.has_loads):
        return
    for name in {**new.feeds, **old.feeds}:
        before, after = old.feeds.get(name), new.feeds.get(name)
        if before != after:
            yield FeedChange(name, before, after)


def _parts(old: Tables, new: Tables) -> dict[Part, int]:
    if not (old.parts and new.parts):
        return {}
    counts = {part: new.parts.get(part, 0) - old.parts.get(part, 0) for part in {**new.parts, **old.parts}}
    return {part: count for part, count in counts.items() if count}


def _ports_left(old: Tables, new: Tables, cables: Iterable[CableChange]) -> tuple[PortsLeft, ...]:
    networks = dict.fromkeys(change.cable.network for change in cables)
    if not networks:
        return ()
    before, after = old.ports_left(), new.ports_left()
    listed = (PortsLeft(network, before.get(network), after.get(network)) for network in networks)
    return tuple(row for row in listed if row.new is not None)


def _interrupted(
    old: Tables, new: Tables, cables: Iterable[CableChange], devices: Iterable[DeviceChange]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Nodes that lose a link or their place; those of which only the BMC does; switches that lose uplinks."""
    disturbed = {change.name for change in devices if change.kind in ("move", "replace")}
    unplugged: dict[str, set[str]] = {}
    for change in cables:
        if change.old is not None:
            unplugged.setdefault(change.old.a[0], set()).add(change.old.network)
    uplinks = Counter(cable.a[0] for cable in old.cables.values() if _is_switch(old, cable.a[0]))
    narrowed: dict[str, None] = {}
    for cable in old.cables.values():
        lower = cable.a[0]
        if _is_switch(old, lower) and lower in new.devices and (lower in unplugged or cable.b[0] in disturbed):
            narrowed[lower] = None
    cut_off = disturbed | {name for name in narrowed if uplinks[name] == 1}
    for cable in old.cables.values():
        if cable.b[0] in cut_off:
            unplugged.setdefault(cable.a[0], set()).add(cable.network)
    stay = [name for name, device in new.devices.items() if not device.is_switch and name in old.devices]
    recabled = [name for name in stay if name in disturbed or unplugged.get(name, set()) - {_BMC}]
    only_bmc = [name for name in stay if name not in disturbed and unplugged.get(name) == {_BMC}]
    return tuple(recabled), tuple(only_bmc), tuple(name for name in narrowed if name not in disturbed)


def _is_switch(side: Tables, name: str) -> bool:
    device = side.devices.get(name)
    return device is not None and device.is_switch
