"""Elevations: the racks of a row side by side, each device at its units.

Height and width are to scale: a rack of 600 mm with devices of 482.6 mm (19 inches) and units of 44.45 mm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clustergen.cluster.model import Cluster, Rack, once_per_cluster
from clustergen.cluster.power import power_text
from clustergen.cluster.slurm.keys.nodes import spread_ranks
from clustergen.diagnostics.words import counted
from clustergen.facility.model import Device, Fixture, Place
from clustergen.facility.placement import fixtures
from clustergen.facility.power import Load, rack_loads
from clustergen.features.facility.drawing import MARGIN, Swatch, Text, fitted, legend, lines, roles, width
from clustergen.hostlist import compress, expand
from clustergen.records import record
from clustergen.render.views.tables import marked

MOST_RACKS = 8
"""Racks of one picture; a longer row is several pictures of about the same size."""
UNIT = 15
RAIL, DEVICE = 20, 164
RACK = 2 * RAIL + DEVICE
_GAP = 28
_AISLE = 48  # where positions are missing between two racks
_NAME_LINE, _HEAD_LINE = 22, 15  # name of a rack, and each line below it
_MOST_FEEDS = 3  # lines
_LISTED = 6  # lines below a rack
_LEAST_WIDTH = 420
_SHOWN = frozenset({"power", "height"})


@record
class DeviceBox:
    """A device in its rack; places are relative to the rack's upper left corner, those of texts to the box."""

    role: str
    y: int
    height: int
    title: str
    texts: tuple[Text, ...]


@record
class RackDrawing:
    """A rack; `y` is its upper edge, and all racks of a picture stand on one floor."""

    name: str
    units: int
    x: int
    y: int
    head: tuple[Text, ...]
    boxes: tuple[DeviceBox, ...]
    foot: tuple[Text, ...]


@record
class Frame:
    """The frame of racks of one height: unit lines and numbers, drawn once and used by each."""

    units: int
    height: int
    edges: tuple[int, ...]
    numbers: tuple[tuple[int, int], ...]  # unit, baseline


@record
class Elevation:
    """One picture."""

    title: str
    desc: str
    heading: str
    width: int
    height: int
    rack_width: int
    rail: int
    device_width: int
    legend: tuple[Swatch, ...]
    frames: tuple[Frame, ...]
    racks: tuple[RackDrawing, ...]
    has_fixtures: bool


@record
class _Contents:
    """Contents of a rack: the manifest's devices with their sums, and the parts that the rack is sold with."""

    load: Load
    devices: tuple[Device, ...]
    fixtures: tuple[Fixture, ...]
    order: Mapping[str, int]  # node → its place from 1 where jobs spread over racks

    @property
    def standing(self) -> list[tuple[Device | Fixture, Place]]:
        """Devices and parts that have a place, from the top down."""
        several: list[Device | Fixture] = [*self.devices, *self.fixtures]
        placed = [(one, one.place) for one in several if one.place]
        return sorted(placed, key=lambda pair: -pair[1].unit)


@once_per_cluster
def elevations(cluster: Cluster) -> Mapping[str, Elevation]:
    """Name of the file → picture, row by row."""
    rows: dict[str, list[Rack]] = {}
    for rack in cluster.racks:
        rows.setdefault(rack.row, []).append(rack)
    parts_of = fixtures(cluster)
    ranks = spread_ranks(cluster) if cluster.meets("slurm") else {}
    order = {host: rank + 1 for host, rank in ranks.items()}
    contents = {
        one.rack.name: _Contents(one.load, one.load.devices, parts_of.get(one.rack.name, ()), order)
        for one in rack_loads(cluster)
    }
    role_of = roles(cluster)
    pictures: dict[str, Elevation] = {}
    for row, members in rows.items():
        members.sort(key=lambda rack: rack.position)
        parts = -(-len(members) // MOST_RACKS)
        size = -(-len(members) // parts)
        name = f"racks-{row}" if row else "racks"
        for number in range(parts):
            racks = members[number * size : (number + 1) * size]
            # A dot is in no name of a row, so the parts of one row are never those of another.
            part = f"{name}.{number + 1}" if parts > 1 else name
            pictures[part] = _picture(cluster.name, row, racks, contents, role_of)
    return pictures


def _picture(
    cluster: str, row: str, racks: Sequence[Rack], contents: Mapping[str, _Contents], role_of: Mapping[str, str]
) -> Elevation:
    ordered = expand(compress([rack.name for rack in racks], sort=True))  # whatever their positions
    names = ordered[0] if len(racks) == 1 else f"{ordered[0]} to {ordered[-1]}"
    where = f"row {row}, " if row else ""
    xs = list(_positions(racks))
    right = max(xs[-1] + RACK + MARGIN, _LEAST_WIDTH)
    standing = [one for rack in racks for one, _ in contents[rack.name].standing]
    swatches, legend_height = legend((_role(one, role_of) for one in standing), 40, right - MARGIN)
    tallest = max(rack.units for rack in racks)
    head = max(map(_head_height, racks))
    floor = 46 + legend_height + head + tallest * UNIT
    drawings = tuple(_rack(rack, x, floor, contents[rack.name], role_of) for rack, x in zip(racks, xs, strict=True))
    below = max((text.y for drawing in drawings for text in drawing.foot), default=0)
    words = "rack" if len(racks) == 1 else "racks"
    return Elevation(
        title=f"{cluster}: {where}{words} {names}",
        desc=" ".join(_sentence(rack, contents[rack.name]) for rack in racks),
        heading=fitted(f"{cluster} · {f'row {row} · ' if row else ''}{words} {names}", right - 2 * MARGIN, "heading"),
        width=right,
        height=max(floor, below) + MARGIN,
        rack_width=RACK,
        rail=RAIL,
        device_width=DEVICE,
        legend=swatches,
        frames=tuple(map(_frame, sorted({rack.units for rack in racks}))),
        racks=drawings,
        has_fixtures=any(contents[rack.name].fixtures for rack in racks),
    )


def _positions(racks: Sequence[Rack]) -> Iterator[int]:
    x = MARGIN
    for before, rack in zip([racks[0], *racks], racks, strict=False):
        if rack is not before:
            x += RACK + (_GAP if rack.position <= before.position + 1 else _AISLE)
        yield x


def _frame(units: int) -> Frame:
    return Frame(
        units,
        units * UNIT,
        tuple(number * UNIT for number in range(1, units)),
        tuple((unit, (units - unit) * UNIT + 11) for unit in range(1, units + 1)),
    )


def _sentence(rack: Rack, contents: _Contents) -> str:
    """A rack in words, for those who do not see it."""
    load = _load(rack, contents.load)[0].replace(" ?", " (not confirmed)")
    return f"{rack.name}: {rack.units} U, {counted(len(contents.standing), 'device')}, {load}."


def _role(one: Device | Fixture, role_of: Mapping[str, str]) -> str:
    if isinstance(one, Fixture):
        return "nvlink" if one.kind == "switch" else "shelf"
    return role_of[one.name]


def _rack(rack: Rack, x: int, floor: int, contents: _Contents, role_of: Mapping[str, str]) -> RackDrawing:
    units = rack.units
    load, kind = _load(rack, contents.load)
    texts = [(load, kind), *((feed, "note") for feed in _feeds(rack))]
    head = _head_height(rack)
    heading = [
        Text(0, 11 - head, fitted(rack.name, RACK, "rack"), "rack"),
        *lines(texts, 0, 26 - head, _HEAD_LINE, RACK),
    ]
    boxes = [_box(rack, one, place, _role(one, role_of), contents.order) for one, place in contents.standing]
    foot = lines(_below(units, contents), x, floor + 17, 14, RACK)
    return RackDrawing(
        name=rack.name,
        units=units,
        x=x,
        y=floor - units * UNIT,
        head=tuple(heading),
        boxes=tuple(boxes),
        foot=tuple(foot),
    )


def _head_height(rack: Rack) -> int:
    return _NAME_LINE + _HEAD_LINE * (1 + len(_feeds(rack)))


def _load(rack: Rack, load: Load) -> tuple[str, str]:
    """The most that the devices draw together, and its class."""
    watts, unknown = load.watts, len(load.without_power)
    limit = rack.power.value if rack.power else None
    text = marked(power_text(watts), "power" in load.unconfirmed) if watts else "no load known" if unknown else "0 W"
    text += f" of {power_text(limit)}" if limit else ""
    text += f", {unknown} unknown" if unknown and watts else ""
    return text, "over" if limit and watts > limit else "note"


def _feeds(rack: Rack) -> list[str]:
    """A line per kind of feed."""
    feeds = [f"{feed.count} × {feed.volts} V {feed.amps} A" for feed in rack.circuits]
    if len(feeds) > _MOST_FEEDS:
        feeds = [*feeds[: _MOST_FEEDS - 1], f"{len(feeds) - _MOST_FEEDS + 1} more kinds of feeds"]
    return [*feeds[:-1], f"{feeds[-1]}, A and B"] if feeds and rack.redundant_feeds else feeds


def _below(units: int, contents: _Contents) -> Iterator[tuple[str, str]]:
    free = units - sum(place.height for _, place in contents.standing)
    yield (f"{free} U free" if free else "full"), "note"
    beside = [(device.name, "") for device in contents.devices if device.place is None and not device.height]
    homeless = [
        (device.name, f"{device.height} U") for device in contents.devices if device.place is None and device.height
    ]
    homeless += [(one.name, "1 U") for one in contents.fixtures if one.place is None]
    several: list[Device | Fixture] = [*contents.devices, *contents.fixtures]
    if any(one.unconfirmed & _SHOWN for one in several):
        yield "?: not confirmed by any source", "note"
    if any("place" in one.unconfirmed for one in contents.fixtures):
        yield "order of trays: not confirmed", "note"
    if any(device.name in contents.order for device in contents.devices):
        yield "#1: first node of the rack for jobs", "note"
    yield from _listed("no room for", homeless, "over")
    yield from _listed("beside the rack", beside, "note")


def _listed(what: str, names: Sequence[tuple[str, str]], kind: str) -> Iterator[tuple[str, str]]:
    shown = names if len(names) <= _LISTED else names[: _LISTED - 1]
    for name, height in shown:
        yield f"{what}: {name}{f' ({height})' if height else ''}", kind
    if len(names) > len(shown):
        yield f"{what}: {len(names) - len(shown)} more", kind


def _box(rack: Rack, one: Device | Fixture, place: Place, role: str, order: Mapping[str, int]) -> DeviceBox:
    if isinstance(one, Device):
        return _device(rack, one, place, role, order.get(one.name))
    top = (rack.units - place.unit) * UNIT
    power = marked(power_text(one.watts), "power" in one.unconfirmed)
    words = f"supplies {power}" if one.kind == "shelf" else power
    right = DEVICE - 6
    room = right - 10 - width(words, "value") - 6
    texts = (Text(right, 11, words, "value"), Text(10, 11, fitted(one.name, room, "name"), "name"))
    return DeviceBox(role, top, UNIT, f"{one.name}: {one.title}, U{place.unit}, {words}", texts)


def _device(rack: Rack, device: Device, place: Place, role: str, order: int | None) -> DeviceBox:
    top = place.unit + place.height - 1
    power = _power(device) if device.power_w is not None else "power unknown"
    units = f"U{place.unit}" if place.height == 1 else f"U{place.unit} to U{top}"
    units = marked(units, "height" in device.unconfirmed)
    height = place.height * UNIT
    place_of_jobs = f"#{order} for jobs" if order else ""
    return DeviceBox(
        role,
        (rack.units - top) * UNIT,
        height,
        f"{device.name}: {', '.join(filter(None, (device.title, units, power, place_of_jobs)))}",
        tuple(_words(device, height, f"{device.name} #{order}" if order else device.name)),
    )


def _power(device: Device) -> str:
    return marked(power_text(device.power_w or 0), "power" in device.unconfirmed)


def _words(device: Device, height: int, name: str) -> Iterator[Text]:
    """Name and watts on one line, with the model between both or below; watts go below too beside a long name."""
    power = _power(device) if device.power_w is not None else "? W"
    left, right = 10, DEVICE - 6
    room = right - left - width(name, "name") - 6
    about, below, y = power, device.title, height // 2 - 2
    if height == UNIT:
        wordings = [f"{device.title} · {power}", *([device.title] if device.power_w is None else [])]
        about, below, y = next((text for text in wordings if width(text, "value") <= room), power), "", 11
    elif width(power, "value") > room:
        about, below = "", f"{device.title} · {power}"
    if about:
        room = right - left - width(about, "value") - 6
        yield Text(right, y, about, "value")
    else:
        room = right - left
    yield Text(left, y, fitted(name, room, "name"), "name")
    if below:
        yield Text(left, y + 12, fitted(below, right - left, "model"), "model")
