"""Questions for vendors: what the manifest leaves open, and what no source of the catalogue confirms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue.facility import cdus, pdus
from clustergen.catalogue.labels import label
from clustergen.catalogue.systems import System, system
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.cabling import cables
from clustergen.facility.outlets import stated_outlets, supplies
from clustergen.facility.placement import devices, switches_of
from clustergen.features.facility.bill import bill
from clustergen.hostlist import compress

_PHYSICAL = (
    *("power_max_w", "psu", "psu_count", "psu_watt", "inlet", "rack_units", "depth_mm", "weight_kg", "airflow_cfm"),
    *("liquid_share_pct", "inlet_c", "power_typ_w", "cages", "ports_per_cage", "splits"),
)


_MEDIUM = {
    "reach_m": "reach",
    "stock_m": "lengths in stock",
    "family": "name",
    "parts": "order numbers",
    "fibre": "fibre",
    "fibre_ends": "connectors of the fibre",
    "module_a": "module of the switch",
    "module_b": "module of the adapter",
}


def questions(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Subject and question."""
    yield from _unspecified(cluster)
    yield from _systems(cluster)
    yield from _switches(cluster)
    yield from _cables(cluster)
    yield from _room(cluster)


def _unspecified(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for node_type in cluster.node_types:
        count = sum(len(group.hosts) for group in cluster.of_type[node_type.name])
        if node_type.system is None:
            machines = f"{count} {'machine' if count == 1 else 'machines'} of type {node_type.name}"
            power = "" if node_type.power_max_w else ", maximum power"
            yield machines, f"Which model? Weight, depth{power} and power inlets?"


def _systems(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(node_type.system for node_type in cluster.node_types if node_type.system):
        base = None if name in cluster.catalogue.own_systems else system(name)
        if base is None:
            continue
        unknown = [label(field) for field, value in _values(base) if value is None]
        yield from _fields(base.name, unknown, base.unverified)


def _values(base: System) -> Iterator[tuple[str, object]]:
    for field in ("power_max_w", "weight_kg", "depth_mm", "airflow_cfm"):
        yield field, getattr(base, field)


def _switches(cluster: Cluster) -> Iterator[tuple[str, str]]:
    view = cluster.catalogue
    several = [switch for switches in switches_of(cluster).values() for switch in switches]
    unnamed = [switch.name for switch in several if not switch.model]
    if unnamed:
        yield f"Switches {compress(unnamed)}", "Which model?"
    for name in dict.fromkeys(switch.model for switch in several if switch.model):
        model = view.switch(name)
        if model is not None:
            unknown = [label("power_max_w")] if model.power_max_w is None else []
            unknown += [label("weight_kg")] if model.weight_kg is None else []
            yield from _fields(model.model, unknown, model.unverified)


def _fields(name: str, unknown: list[str], unverified: Iterable[str]) -> Iterator[tuple[str, str]]:
    if unknown:
        yield name, f"Not known: {', '.join(unknown)}."
    marked = sorted(label(field) for field in unverified if field in _PHYSICAL)
    if marked:
        yield name, f"No source confirms: {', '.join(marked)}."


def _cables(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for item in bill(cluster):
        if item.category == "link":
            yield f"{item.count} {'link' if item.count == 1 else 'links'}", f"{item.description}. Which cable?"
    media = {id(cable.medium): cable.medium for cable in cables(cluster) if cable.medium}
    for medium in {medium.id: medium for medium in media.values()}.values():
        marked = [words for field, words in _MEDIUM.items() if field in medium.unverified]
        if marked:
            yield medium.id, f"No source confirms: {', '.join(marked)}."
        if medium.fibre and (medium.watts_a is None or medium.watts_b is None):
            yield medium.id, "Power of the modules?"


def _room(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for text, missing in (
        ("The feeds are not stated.", [rack.name for rack in cluster.racks if not rack.circuits]),
        ("Which rack PDUs, with how many outlets? None are stated.", _without_pdu(cluster)),
        ("The cooling is not stated.", [rack.name for rack in cluster.racks if rack.cooling is None]),
        ("The weight limit is not stated.", [rack.name for rack in cluster.racks if rack.weight_kg is None]),
    ):
        if missing:
            every = len(missing) == len(cluster.racks)
            yield "All racks" if every else f"Racks {compress(missing)}", text
    models = {circuit.pdu for rack in cluster.racks for circuit in rack.circuits if circuit.pdu}
    for name in sorted(models & set(pdus())):
        if pdus()[name].unverified:
            yield pdus()[name].model, "No source confirms: outlets."
    yield from _surviving(cluster)
    homeless = [device.name for device in devices(cluster).values() if device.place is None and device.height]
    if cluster.racks and homeless:
        yield compress(homeless), "Which rack? Without a place, no cable length is derived."
    ups = cluster.of(Facility).ups
    if ups is None:
        yield "UPS", "Rated power in W and VA, and run time? None is stated."
    elif ups.minutes is None or ups.apparent_va is None:
        yield "UPS", "Rating in VA, and run time at rated power?"
    if cluster.of(Facility).pue is None:
        yield "PUE", "Power of the whole facility to that of the devices? None is stated, so the report leaves it out."
    yield from _loops(cluster)
    prices = cluster.of(Facility).prices
    if prices is not None:
        missing_price = [item.item or item.description for item in bill(cluster) if item.price is None]
        if missing_price:
            yield "Prices", f"No price for: {', '.join(dict.fromkeys(missing_price))}."


def _loops(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for name, loop in cluster.of(Facility).loops.items():
        if loop.rise_k is None:
            yield (
                f"Loop {name}",
                "Temperature difference between inlet and outlet? None is stated, so no flow is planned.",
            )
        if loop.chillers is None:
            yield f"Loop {name}", "What removes the heat from the building's water? No chillers are stated."
        model = cdus().get(loop.cdus.model or "")
        if model and model.unverified:
            yield model.name, "No source confirms: capacity."


def _without_pdu(cluster: Cluster) -> list[str]:
    """Racks with a feed whose outlets are not known."""
    return [rack.name for rack in cluster.racks if any(stated_outlets(circuit) is None for circuit in rack.circuits)]


def _surviving(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Systems that keep too few supplies for full load when one side of redundant feeds is off."""
    placed = devices(cluster)
    redundant = {rack.name for rack in cluster.racks if rack.redundant_feeds}
    alike: dict[tuple[str, int, int], list[str]] = {}
    for name, one in supplies(cluster).items():
        left, need = one.count // 2, one.count - (one.redundant or 0)
        if one.redundant is not None and one.count > 1 and left < need and placed[name].rack in redundant:
            alike.setdefault((placed[name].title, left, need), []).append(name)
    for (title, left, need), names in alike.items():
        words = f"With one side off, a {title} keeps {left} supplies and needs {need} for full load. May it slow down?"
        yield compress(names), words
