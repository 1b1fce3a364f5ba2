"""A short form of the changes in the machine room: devices, cables, parts, loads and free ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clustergen.diagnostics.words import counted
from clustergen.diff.cable_groups import CableGroup, cable_groups
from clustergen.diff.change import folded
from clustergen.diff.messages import cut
from clustergen.diff.room import DeviceChange, FeedChange, Kind, PortsLeft, RoomChanges
from clustergen.diff.room_tables import Feed

_SIGNS: dict[Kind, str] = {"add": "+", "move": "~", "replace": "~", "remove": "-"}
_MEDIA = 4  # kinds of cable that a line names


class Line(NamedTuple):
    """One line; `sign` is empty for what is only stated."""

    sign: str
    text: str


def room_lines(room: RoomChanges, most: int, longest: int) -> Iterator[Line]:
    """At most so many lines of a kind, and so many characters of a list of hosts."""
    if room.uncompared:
        yield Line("", f"not compared: the {room.uncompared} side has no tables in facility/")
        return
    yield from _few(_devices(room.devices, longest), most, "groups of devices")
    yield from _few([_group(group, longest) for group in cable_groups(room.cables)], most, "groups of cables")
    if room.longer:
        yield Line("", f"{counted(room.longer, 'cable')} longer than planned: to be kept")
    if room.specified:
        yield Line("", f"{counted(room.specified, 'cable')} with kind and length on one side only: not compared")
    yield from _parts(room, most)
    yield from _few(_feeds(room.feeds, longest), most, "racks")
    yield from _ports(room.ports_left)
    if any(change.kind == "move" for change in room.devices):
        yield Line("", "places are derived from the plan; racks.RACK.places in the manifest keeps a device where it is")
    if room.renamed:
        names = f"{cut(folded(room.renamed), longest)} → {cut(folded(room.renamed.values()), longest)}"
        yield Line("", f"NetBox: rename devices {names} by hand; imports only add")
    removed = [name for kind, name, *_ in room.devices if kind == "remove"]
    if removed or room.count_cables("remove") or room.count_cables("move"):
        what = f"devices {cut(folded(removed), longest)} and their cables" if removed else "removed and moved cables"
        yield Line("", f"NetBox: delete {what} by hand; imports only add")


def _few(lines: Iterable[Line], most: int, what: str) -> Iterator[Line]:
    listed = list(lines)
    shown = listed if len(listed) <= most + 1 else listed[:most]
    yield from shown
    if len(listed) > len(shown):
        yield Line("", f"… and {len(listed) - len(shown):,} more {what}")


def _devices(changes: Iterable[DeviceChange], longest: int) -> Iterator[Line]:
    alike: dict[tuple[Kind, bool, str], list[DeviceChange]] = {}
    for change in changes:
        alike.setdefault((change.kind, change.device.is_switch, _about(change)), []).append(change)
    for (kind, is_switch, about), members in alike.items():
        names = cut(folded(change.name for change in members), longest)
        what = counted(len(members), "switch" if is_switch else "node")
        racks = folded(rack for change in members if (rack := change.device.rack))
        if kind == "move":
            first = members[0]
            assert first.old is not None
            assert first.new is not None
            is_one = len(members) == 1
            places = (first.old.place, first.new.place) if is_one else (first.old.rack, first.new.rack)
            where = f"{places[0]} → {places[1]}" if places[0] != places[1] else f"other units of {places[0]}"
            yield Line("~", f"{what} to move: {names}: {where}")
        elif kind == "replace":
            yield Line("~", f"{what} to replace: {names}: {about}")
        else:
            place = f" {'in' if kind == 'add' else 'from'} {cut(racks, longest)}" if racks else ""
            yield Line(_SIGNS[kind], f"{what}: {names}{place}: {about}")


def _about(change: DeviceChange) -> str:
    """By which changes are alike."""
    if change.kind == "move":
        return " → ".join(side.rack for side in (change.old, change.new) if side)
    return " → ".join(side.model for side in (change.old, change.new) if side)


def _group(group: CableGroup, longest: int) -> Line:
    what = counted(group.number, f"{group.network} cable")
    a, b, b_new = (cut(text, longest) for text in (group.a, group.b, group.b_new))
    kinds = sorted(group.kinds, key=lambda pair: -pair[1])
    listed = ", ".join(f"{count:,} × {name}" for name, count in kinds[:_MEDIA] if name)
    more = f", and {len(kinds) - _MEDIA} more kinds" if len(kinds) > _MEDIA else ""
    media = f" ({listed}{more})" if listed else ""
    if group.kind == "move":
        where = f"from {b} to {b_new}" if b != b_new else f"to other ports of {b}"
        return Line("~", f"{what} to move: {a}: {where}{media}")
    verb = " to replace" if group.kind == "replace" else ""
    return Line(_SIGNS[group.kind], f"{what}{verb}: {a} to {b}{media}")


def _parts(room: RoomChanges, most: int) -> Iterator[Line]:
    """Of modules, fibres and cables; machines are named as devices."""
    counts = [
        (part, count) for part, count in room.parts.items() if part.category not in ("system", "switch") and count
    ]
    for sign in "+-":
        listed = [
            f"{abs(count):,} × {part.name}{f' {float(part.length):g} m' if part.length else ''}"
            for part, count in counts
            if (count > 0) == (sign == "+")
        ]
        if listed:
            more = f", and {len(listed) - most} more lines of facility/bom.csv" if len(listed) > most else ""
            yield Line(sign, f"parts: {', '.join(listed[:most])}{more}")


def _feeds(changes: Sequence[FeedChange], longest: int) -> Iterator[Line]:
    """Racks whose loads change alike are one line; the heaviest feed of each counts."""
    of_rack: dict[str, list[FeedChange]] = {}
    for change in changes:
        side = change.new or change.old
        assert side is not None
        of_rack.setdefault(side.rack, []).append(change)
    alike: dict[str, list[str]] = {}
    heaviest: dict[str, int] = {}
    for rack, feeds in of_rack.items():
        olds, news = ([side for side in sides if side] for sides in zip(*((f.old, f.new) for f in feeds), strict=True))
        if not news:
            text = f"{_kilowatts(olds)} kW → no known load"
        else:
            sides = [_kilowatts(side) for side in (olds, news) if side]
            text = f"{' → '.join(dict.fromkeys(sides))} kW, heaviest feed at {_percents(olds, news, 'percent')}"
            if any(side.percent_alone is not None for side in news):
                text += f", at {_percents(olds, news, 'percent_alone')} if the other side fails"
        alike.setdefault(text, []).append(rack)
        heaviest[text] = max((side.percent_alone or side.percent for side in news), default=0)
    for text in sorted(alike, key=lambda text: -heaviest[text]):
        yield Line("", f"power of {cut(folded(alike[text]), longest)}: {text}")


def _kilowatts(feeds: Iterable[Feed]) -> str:
    return f"{sum(feed.watts for feed in feeds) / 1000:.1f}"


def _percents(olds: Sequence[Feed], news: Sequence[Feed], field: str) -> str:
    """The highest of each side."""
    sides = ([getattr(feed, field) for feed in side if getattr(feed, field) is not None] for side in (olds, news))
    return " → ".join(dict.fromkeys(f"{max(side)}" for side in sides if side)) + " %"


def _ports(rows: Iterable[PortsLeft]) -> Iterator[Line]:
    listed = [
        f"{row.network} {row.new:,}" if row.old in (None, row.new) else f"{row.network} {row.old:,} → {row.new:,}"
        for row in rows
    ]
    if listed:
        yield Line("", f"leaf ports left: {', '.join(listed)}")
