"""Tables of facility/README.md: power, feeds, cooling, UPS and weight. Units are in the column names or cells."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.facility import heat_btu_h
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.outlets import Outlets, outlet_volts, rack_outlets
from clustergen.facility.power import RackLoad, feed_loads, rack_loads, room_load, run_time_minutes
from clustergen.hostlist import compress
from clustergen.render.views.tables import UNCONFIRMED, Table, marked, table_of
from clustergen.units import Watts

_NOTE = (
    "Maximum power at the wall. The maximum of a system includes its adapters, and the maximum of a switch a module in"
    " each cage."
)


def room_tables(cluster: Cluster) -> tuple[Table, ...]:
    factor = cluster.of(Facility).power_factor
    feeds_intro = (
        f"Used: VA of the load (power factor {factor:g}) by what the feed may carry continuously; 100 % is the limit."
        " Equal feeds carry equal parts, and all phases of a feed too. The voltage of outlets assumes PDUs with outlets"
        " between two phases up to 240 V, and from phase to neutral above."
    )
    return (
        table_of("Room", f"{_NOTE} {UNCONFIRMED}" if room_load(cluster).unconfirmed else _NOTE, _room(cluster)),
        table_of("Racks", "", _folded((_rack(cluster, one) for one in rack_loads(cluster)), "Racks")),
        table_of("Feeds", feeds_intro, _folded(_folded(_feeds(cluster), "Feed"), "Racks")),
    )


def _folded(rows: Iterator[dict[str, str]], name: str) -> Iterator[dict[str, str]]:
    """Rows that differ in one column only as one row with all names of that column."""
    names: dict[tuple[str, ...], list[str]] = {}
    first: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        key = tuple(value for column, value in row.items() if column != name)
        names.setdefault(key, []).append(row[name])
        first.setdefault(key, row)
    for key, row in first.items():
        yield row | {name: compress(names[key])}


def _room(cluster: Cluster) -> Iterator[dict[str, str]]:
    load = room_load(cluster)
    facility = cluster.of(Facility)
    va = load.watts / facility.power_factor
    doubtful = "power" in load.unconfirmed
    yield _fact("Power", marked(f"{kw(load.watts)}, {va / 1000:,.1f} kVA", doubtful))
    limit = f", the room removes {Watts(facility.cooling_w)}" if facility.cooling_w else ""
    yield _fact("Heat", marked(f"{kw(load.watts)}, {heat_btu_h(load.watts):,.0f} BTU/h", doubtful) + limit)
    if facility.pue:
        yield _fact("Whole facility", f"{kw(load.watts * facility.pue)} at the stated PUE of {facility.pue:g}")
    if load.liquid_w:
        yield _fact("Heat that leaves by liquid", kw(load.liquid_w))
        yield _fact("Heat that leaves by air", marked(kw(load.air_w), doubtful))
    yield _fact("Cooling air", f"{load.air_cfm:,.0f} CFM")
    if load.weight_kg:
        yield _fact("Weight of devices", marked(f"{load.weight_kg:,.0f} kg", "weight" in load.unconfirmed))
    ups = facility.ups
    if ups:
        rating = str(Watts(ups.power_w)) + (f", {ups.apparent_va / 1000:g} kVA" if ups.apparent_va else "")
        yield _fact("UPS", f"{rating}; load {load.watts / ups.power_w:.0%} of its power")
        minutes = run_time_minutes(ups, load.watts)
        if minutes is not None:
            need = f", required {ups.required_minutes:g} min" if ups.required_minutes else ""
            yield _fact("UPS run time", f"{minutes:.1f} min{need}")
    for what, names in (
        ("Power unknown", load.without_power),
        ("Power of the GPUs only", load.gpus_only),
        ("Weight unknown", load.without_weight),
    ):
        if names:
            yield _fact(what, f"{len(names)} {'device' if len(names) == 1 else 'devices'}: {compress(names)}")


def _fact(what: str, value: str) -> dict[str, str]:
    return {"What": what, "Value": value}


def kw(watts: float) -> str:
    return f"{watts / 1000:,.1f} kW"


def _rack(cluster: Cluster, one: RackLoad) -> dict[str, str]:
    rack, load = one.rack, one.load
    return {
        "Racks": rack.name,
        "Height used": f"{marked(str(load.units), 'height' in load.unconfirmed)} of {rack.units} U",
        "Deepest device": _depth(one),
        "Power": marked(kw(load.watts), "power" in load.unconfirmed),
        "Power limit": str(rack.power or ""),
        "Heat": marked(f"{heat_btu_h(load.watts):,.0f} BTU/h", "power" in load.unconfirmed),
        "Cooling": str(rack.cooling or ""),
        "Heat to liquid": kw(load.liquid_w) if load.liquid_w else "",
        "Air": f"{load.air_cfm:,.0f} CFM" + (f" of {rack.airflow_cfm:,.0f}" if rack.airflow_cfm else ""),
        "Weight": marked(f"{load.weight_kg:,.0f} kg", "weight" in load.unconfirmed) if load.weight_kg else "",
        "Weight limit": f"{rack.weight_kg:,.0f} kg" if rack.weight_kg else "",
        "Outlets used": "; ".join(map(_outlets, rack_outlets(cluster, rack))),
        "Not known": _unknown(one),
    }


def _depth(one: RackLoad) -> str:
    """Where the depth of the rack is stated: that of its deepest device."""
    if one.rack.depth_mm is None:
        return ""
    depths = [(device.depth_mm, "depth" in device.unconfirmed) for device in one.load.devices if device.depth_mm]
    deepest, is_unconfirmed = max(depths, default=(None, False))
    return f"{marked(str(deepest), is_unconfirmed)} of {one.rack.depth_mm} mm" if deepest else "not known"


def _outlets(one: Outlets) -> str:
    count = f"{one.used} {one.type}" if one.available is None else f"{one.used} of {one.available} {one.type}"
    return f"side {one.side}: {count}" if one.side else count


def _unknown(one: RackLoad) -> str:
    load = one.load
    parts = [
        f"{what} of {len(names)} {'device' if len(names) == 1 else 'devices'}"
        for what, names in (("power", load.without_power), ("weight", load.without_weight))
        if names
    ]
    return ", ".join(parts)


def _feeds(cluster: Cluster) -> Iterator[dict[str, str]]:
    for one in rack_loads(cluster):
        for feed in feed_loads(one.rack, one.load.watts, cluster.of(Facility).power_factor):
            circuit = feed.feed.circuit
            phases = "3 phases" if circuit.phases == 3 else "1 phase"
            yield {
                "Racks": one.rack.name,
                "Feed": feed.feed.name,
                "Rating": f"{circuit.volts} V, {circuit.amps} A, {phases}, {feed.feed.breaker_va / 1000:.1f} kVA",
                "Outlets": f"{outlet_volts(circuit):.0f} V",
                "Continuous": f"{feed.feed.continuous_va / 1000:.1f} kVA ({circuit.derate:.0%})",
                "Load": kw(feed.normal_w),
                "Current": f"{feed.amps:.1f} A",
                "Used": f"{feed.normal:.0%}",
                "Used if the other side fails": f"{feed.failed:.0%}" if feed.failed is not None else "",
            }
