"""Tables that spreadsheets and NetBox import: the bill of materials, cables with both ends, devices, racks and power
feeds, and NetBox's device types. A header row and quoting as in RFC 4180, no comments.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clustergen.catalogue.cabling import Medium
from clustergen.catalogue.netbox import power_connectors
from clustergen.cluster.facility import Facility, Prices
from clustergen.cluster.model import Cluster, Rack
from clustergen.facility.cabling import cables
from clustergen.facility.model import Cable, Device
from clustergen.facility.placement import devices, fixtures, switches_of
from clustergen.facility.power import FeedLoad, feed_loads, rack_loads
from clustergen.features.facility.bill import Amount, Cost, bill, cost
from clustergen.features.facility.device_types import device_types
from clustergen.records import record
from clustergen.render.file import Context
from clustergen.render.formats import RenderError, Safe, one_line

_FORMULA = frozenset("=+-@")


@record
class CsvTable:
    """The whole text."""

    text: Safe


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> CsvTable:
    """None is an empty cell; a text that a spreadsheet would take for a formula is quoted by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    count = 1
    for row in rows:
        writer.writerow([f"'{cell}" if type(cell) is str and cell[:1] in _FORMULA else cell for cell in row])
        count += 1
    text = out.getvalue()
    if text.count("\n") != count:
        raise RenderError("a line break in a cell of a table")
    one_line(text.replace("\n", " "))
    return CsvTable(Safe(text))


_OF_BILL = (
    *("category", "item", "description", "part", "length", "length_unit", "count", "spares", "order"),
    *("price", "cost", "price_high", "cost_high", "currency", "note"),
)


def has_facility(cluster: Cluster) -> bool:
    """True if the manifest says anything of racks, switches or the room."""
    return bool(cluster.racks or switches_of(cluster) or cluster.of(Facility).is_stated)


def bom_csv(cluster: Cluster) -> CsvTable | None:
    if not has_facility(cluster):
        return None
    return csv_table(_OF_BILL, _bill_rows(cluster))


def _bill_rows(cluster: Cluster) -> Iterator[tuple[object, ...]]:
    prices = cluster.of(Facility).prices
    currency = prices.currency if prices else ""
    items = bill(cluster)
    for item in items:
        yield (
            *(
                item.category,
                item.item,
                item.description,
                item.part,
                None if item.length_m is None else f"{item.length_m:g}",
            ),
            "m" if item.length_m is not None else "",
            *(item.count, item.spares, item.ordered, _money(item.price), _money(item.cost)),
            *((_money(item.price_high), _money(item.cost_high)) if item.price != item.price_high else (None, None)),
            currency if item.price is not None else "",
            item.note,
        )
    if prices and any(item.cost is not None for item in items):
        missing = sum(item.cost is None for item in items)
        note = f"{missing} {'line has' if missing == 1 else 'lines have'} no price" if missing else ""
        for name, percent, amount in sums(cost(cluster), prices):
            words = f"{percent:g} %" if percent else note if name == "total" else ""
            high = _money(amount.high) if amount.high != amount.low else None
            yield (name, "", "", "", None, "", None, None, None, None, _money(amount.low), None, high, currency, words)


def sums(money: Cost, prices: Prices) -> Iterator[tuple[str, float, Amount]]:
    """Name, percentage and amount of the rows below the lines; without contingency and tax, the total alone."""
    if prices.contingency or prices.tax:
        yield "lines", 0, money.lines
    if prices.contingency:
        yield "contingency", prices.contingency * 100, money.contingency
    if prices.tax:
        yield "tax", prices.tax * 100, money.tax
    yield "total", 0, money.total


def _money(amount: float | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"


_OF_CABLES = (
    *("side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name"),
    *("type", "status", "label", "length", "length_unit", "description"),
)
_INTERFACE = "dcim.interface"


def cables_csv(cluster: Cluster) -> CsvTable | None:
    """None where no network names its switches."""
    made = cables(cluster)
    return csv_table(_OF_CABLES, _cable_rows(made, devices(cluster))) if made else None


def _cable_rows(made: tuple[Cable, ...], placed: Mapping[str, Device]) -> Iterator[tuple[object, ...]]:
    where = {name: _where(device) for name, device in placed.items()}
    for cable in made:
        a, b = cable.a, cable.b
        yield (
            *(a.device, _INTERFACE, a.port, b.device, _INTERFACE, b.port),
            cable.medium.netbox_type if cable.medium else "",
            "planned",
            _label(cable),
            cable.length_m,
            "m" if cable.length_m is not None else "",
            _description(cable, where),
        )


def _label(cable: Cable) -> str:
    """The text for both ends. A twin cable is one piece in two cages, so its rows have one label."""
    if _is_twin(cable):
        return f"{cable.a.device} {cable.a.cage} | {cable.b.device} {cable.b.cage}"
    return f"{cable.a.device} {cable.a.port} | {cable.b.device} {cable.b.port}"


def _is_twin(cable: Cable) -> bool:
    medium = cable.medium
    return medium is not None and medium.links > 1 and not medium.is_splitter


def _where(device: Device) -> str:
    return f"{device.place.rack} U{device.place.unit}" if device.place else "no place"


def _description(cable: Cable, where: Mapping[str, str]) -> str:
    parts = [cable.network]
    if cable.rail is not None:
        parts.append(f"rail {cable.rail}")
    if cable.gbit:
        parts.append(f"{cable.gbit} Gb/s")
    parts.append(f"{where[cable.a.device]} to {where[cable.b.device]}")
    if cable.derived_m is not None:
        parts.append(f"{cable.derived_m:g} m by geometry")
    if medium := cable.medium:
        parts += [*_shared(cable, medium), medium.id]
    return "; ".join(parts)


def _shared(cable: Cable, medium: Medium) -> Iterator[str]:
    """The common part of this row and others: one cable, or one module in a cage of several ports."""
    a, b = cable.a, cable.b
    if _is_twin(cable):
        yield f"one cable for {medium.links} rows: cage {a.cage} to cage {b.cage}"
    elif medium.is_splitter:
        trunk = f"port {b.port.rpartition('/')[0]}" if medium.fibre else f"cage {b.cage}"
        yield f"one splitter for {medium.links} rows: {trunk} of {b.device}"
    if medium.fibre:
        modules = [
            f"cage {end.cage} of {end.device}"
            for end, ports in ((a, medium.ports_b), (b, medium.ports_a))
            if ports > 1 and end.cage != end.port
        ]
        if modules:
            yield f"module shared with the other port of {' and of '.join(modules)}"


_DEVICES = ("name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face")
_RACKS = ("site", "name", "status", "width", "u_height", "description")
_FEEDS = (
    *("site", "power_panel", "rack", "name", "status", "type", "supply", "phase"),
    *("voltage", "amperage", "max_utilization", "description"),
)


def devices_csv(cluster: Cluster) -> CsvTable | None:
    """None where nothing has a place and nothing is cabled."""
    return csv_table(_DEVICES, _device_rows(cluster)) if cluster.racks or switches_of(cluster) else None


def racks_csv(cluster: Cluster) -> CsvTable | None:
    rows = ((cluster.name, rack.name, "planned", 19, rack.units, _standing(rack)) for rack in cluster.racks)
    return csv_table(_RACKS, rows) if cluster.racks else None


def power_feeds_csv(cluster: Cluster) -> CsvTable | None:
    return csv_table(_FEEDS, _feed_rows(cluster)) if any(rack.circuits for rack in cluster.racks) else None


def device_type_yaml(cluster: Cluster) -> dict[str, Context] | None:
    """By manufacturer and slug, as NetBox's library has its files."""
    if not cluster.racks and not switches_of(cluster):
        return None
    connectors = power_connectors()
    return {
        f"{kind.manufacturer}/{kind.slug}": {
            "device_type": kind,
            "power_port": connectors[kind.inlet].netbox_port if kind.inlet in connectors else "",
        }
        for kind in device_types(cluster).values()
    }


def _device_rows(cluster: Cluster) -> Iterator[tuple[object, ...]]:
    types = device_types(cluster)
    roles = {host: (group.roles or ("node",))[0] for group in cluster.groups for host in group.hosts}
    for network, switches in switches_of(cluster).items():
        roles |= {switch.name: f"{network}-switch" for switch in switches}
    for name, device in devices(cluster).items():
        kind, place = types[name], device.place
        rack = (place.rack, place.unit, "front") if place else (None, None, None)
        yield name, roles[name], kind.manufacturer, kind.model, "planned", cluster.name, *rack
    for part in (part for parts in fixtures(cluster).values() for part in parts):
        kind, role = types[part.name], "nvlink-switch" if part.kind == "switch" else "power-shelf"
        rack = (part.rack, part.place.unit, "front") if part.place else (None, None, None)
        yield part.name, role, kind.manufacturer, kind.model, "planned", cluster.name, *rack


def _standing(rack: Rack) -> str:
    row = f"row {rack.row}, " if rack.row else ""
    return f"{row}position {rack.position}"


def _feed_rows(cluster: Cluster) -> Iterator[tuple[object, ...]]:
    """Feeds of side B come from a panel of their own."""
    factor = cluster.of(Facility).power_factor
    for rack, load in ((each.rack, each.load) for each in rack_loads(cluster)):
        for feed_load in feed_loads(rack, load.watts, factor):
            feed = feed_load.feed
            circuit = feed.circuit
            yield (
                cluster.name,
                f"{cluster.name}-{feed.side or 'A'}",
                rack.name,
                f"{rack.name}-{feed.name}",
                "planned",
                "redundant" if feed.side == "B" else "primary",
                "ac",
                "three-phase" if circuit.phases == 3 else "single-phase",
                circuit.volts,
                circuit.amps,
                round(circuit.derate * 100),
                _load(feed_load, factor, is_known=not load.without_power),
            )


def _load(feed: FeedLoad, factor: float, *, is_known: bool) -> str:
    """Percentages are of what the feed carries for hours; NetBox counts only what its own cables connect."""
    if not feed.normal_w:
        return ""
    limit = feed.feed.continuous_va * factor
    alone = f"; {feed.failed * 100:.0f} % if the other side fails" if feed.failed is not None else ""
    bound = "" if is_known else "at least "
    return f"{bound}{feed.normal_w:.0f} W of {limit:.0f} W ({feed.normal * 100:.0f} %){alone}"
