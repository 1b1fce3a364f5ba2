"""The bill of materials: systems, switches, modules by cage, fibres and cables by length, racks, feeds and cords."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clustergen.catalogue.cabling import Medium
from clustergen.catalogue.facility import cdus, pdus, rack_system_of
from clustergen.catalogue.hardware import nic
from clustergen.catalogue.netbox import power_connectors
from clustergen.cluster.facility import Facility, Prices, Range
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.named_rows import Configuration, Configurations
from clustergen.facility.cabling import cables
from clustergen.facility.cooling import loop_loads
from clustergen.facility.model import Cable
from clustergen.facility.outlets import cords, stated_outlets
from clustergen.facility.placement import switches_of
from clustergen.facility.power import feeds
from clustergen.facility.unfit import cause_text
from clustergen.records import record, replace
from clustergen.units import Watts


class Piece(NamedTuple):
    """Something to buy. `category`: module, fibre or cable; link where nothing was chosen."""

    category: str
    item: str  # what prices call it
    description: str
    part: str
    length_m: float | None
    note: str = ""


def pieces(cables: Iterable[Cable]) -> Counter[Piece]:
    """Counts of all pieces: modules by cage, fibres by port, assemblies by plug. Linear in the cables.

    A module of a twin cage serves both of its ports. A splitter, fibre or copper, counts once for all of its plugs, and
    a straight twin cable once for both of its links.
    """
    counts: Counter[Piece] = Counter()
    modules: dict[tuple[str, str, str], Piece] = {}
    shared: dict[tuple[str, ...], list[float]] = {}
    media: dict[str, Medium] = {}
    single: Counter[tuple[str, float]] = Counter()
    for cable in cables:
        medium = cable.medium
        if medium is None or cable.length_m is None:
            counts[
                Piece(
                    category="link",
                    item="",
                    description=cause_text(cable),
                    part="",
                    length_m=None,
                    note="cable not chosen",
                )
            ] += 1
            continue
        key = f"{medium.id} {medium.gbit} {medium.module_a} {medium.module_b}"
        media[key] = medium
        if medium.fibre:
            # The medium's end a is the switch, which is end b of the cable.
            ends = ((cable.b, medium.module_a, medium.ports_a), (cable.a, medium.module_b, medium.ports_b))
            for end, part, ports in ends:
                if (place := (end.device, end.cage, part)) not in modules:
                    modules[place] = _module(medium, part, ports, end.connector)
        if medium.links == 1:
            single[key, cable.length_m] += 1
        else:
            shared.setdefault((key, *_piece_of(cable, medium)), []).append(cable.length_m)
    counts.update(modules.values())
    for (key, length), count in single.items():
        counts[_run(media[key], length)] += count
    for (key, *_), lengths in shared.items():
        counts[_run(media[key], max(lengths))] += -(-len(lengths) // media[key].links)
    return counts


def _piece_of(cable: Cable, medium: Medium) -> tuple[str, ...]:
    """The common properties of the links of one piece."""
    if medium.is_splitter:
        return (cable.b.device, str(cable.b.number) if medium.fibre else cable.b.cage)
    return (cable.a.device, cable.a.cage, cable.b.device, cable.b.cage)


def _module(medium: Medium, part: str, ports: int, connector: str) -> Piece:
    item = part.lower() if part else f"{medium.id}-{connector}"
    words = f"{medium.medium} module for {connector} cages, {ports} x {medium.gbit} Gb/s"
    return Piece("module", item, words, part, None)


def _run(medium: Medium, length: float) -> Piece:
    split = " splitter" if medium.is_splitter else " twin" if medium.links > 1 else ""
    if medium.fibre:
        ends = f", {medium.fibre_ends}" if medium.fibre_ends else ""
        words = f"{medium.medium}{split} fibre {medium.fibre}{ends}"
        return Piece("fibre", f"{medium.id}-fibre", words, medium.fibre, length)
    words = f"{medium.gbit} Gb/s {medium.medium}{split} cable"
    return Piece("cable", medium.id, words, medium.family, length)


def configuration(cluster: Cluster, node_type: NodeType) -> str:
    """The options that a node type states beside its system, in words for an order:

    `2 x Xeon Platinum 8592+ (64 cores), 1.5TiB, NICs 8 x cx7, disks 2 x 3.84TB (system)`; empty without any."""
    stated = cluster.of(Configurations).of_type.get(node_type.name)
    return ", ".join(_parts(stated)) if stated else ""


def _parts(stated: Configuration) -> Iterator[str]:
    if stated.sockets or stated.cpu_model:
        cores = f" ({stated.cores_per_socket} cores)" if stated.cores_per_socket else ""
        yield (f"{stated.sockets} x " if stated.sockets else "") + f"{stated.cpu_model or 'CPU'}{cores}"
    if stated.memory:
        yield str(stated.memory)
    if stated.gpu_count or stated.gpu_model:
        yield (f"{stated.gpu_count} x " if stated.gpu_count else "") + (stated.gpu_model or "GPU")
    if stated.nics:
        yield f"NIC ports {_counted(model or 'unknown' for model in stated.nics)}"
    if stated.disks:
        yield "disks " + _counted(f"{disk.size} ({disk.use})" for disk in stated.disks)
    if stated.psus:
        yield f"{stated.psus} power {'supply' if stated.psus == 1 else 'supplies'}" + (
            f" of {stated.psu}" if stated.psu else ""
        )


def _counted(names: Iterator[str]) -> str:
    return " + ".join(f"{count} x {name}" for name, count in Counter(names).items())


@record
class Item:
    """One line. `item` is what `facility.prices` calls it; empty where the manifest does not say what it is."""

    category: str
    item: str
    description: str
    count: int
    note: str = ""
    part: str = ""  # the maker's order number, where one was seen
    length_m: float | None = None
    spares: int = 0
    price: float | None = None  # the lowest of a range
    price_high: float | None = None

    @property
    def ordered(self) -> int:
        return self.count + self.spares

    @property
    def cost(self) -> float | None:
        return None if self.price is None else self.price * self.ordered

    @property
    def cost_high(self) -> float | None:
        return None if self.price_high is None else self.price_high * self.ordered

    @property
    def price_names(self) -> tuple[str, ...]:
        """Names of its price, the most exact first: `dac-hdr-1-5m`, then `dac-hdr`."""
        exact = (f"{self.item}-{self.length_m:g}m".replace(".", "-"),) if self.length_m is not None else ()
        return (*exact, self.item) if self.item else ()


@once_per_cluster
def bill(cluster: Cluster) -> tuple[Item, ...]:
    """All lines, by category."""
    stated = cluster.of(Facility).prices
    items = [*_systems(cluster), *_switches(cluster), *_cables(cluster), *_room(cluster)]
    return tuple(_priced(item, stated) for item in items)


def _priced(item: Item, stated: Prices | None) -> Item:
    name = next((name for name in item.price_names if stated and name in stated.items), None)
    if name is None or stated is None:
        return item
    bounds = stated.ranges.get(name) or Range(stated.items[name], stated.items[name])
    return replace(item, price=bounds.low, price_high=bounds.high)


@record
class Amount:
    """Money between two bounds, which are the same where every price is fixed."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def times(self, factor: float) -> Amount:
        return Amount(self.low * factor, self.high * factor)


@record
class Cost:
    """Sum of all lines that have a price, and the parts that come on top."""

    lines: Amount
    contingency: Amount
    tax: Amount
    total: Amount


def cost(cluster: Cluster) -> Cost:
    """Sum of the lines x (1 + contingency) x (1 + tax)."""
    stated = cluster.of(Facility).prices
    items = bill(cluster)
    lines = Amount(math.fsum(item.cost or 0 for item in items), math.fsum(item.cost_high or 0 for item in items))
    contingency, tax = (stated.contingency, stated.tax) if stated else (0.0, 0.0)
    return Cost(
        lines=lines,
        contingency=lines.times(contingency),
        tax=lines.times((1 + contingency) * tax),
        total=lines.times((1 + contingency) * (1 + tax)),
    )


def _bought(cluster: Cluster) -> Iterator[tuple[NodeType, int]]:
    """Machines that exist only when somebody starts them are not bought."""
    for node_type in cluster.node_types:
        count = sum(len(group.hosts) for group in cluster.of_type[node_type.name] if not group.is_dynamic)
        if count:
            yield node_type, count


def _systems(cluster: Cluster) -> Iterator[Item]:
    adapters: dict[str, Counter[str]] = {}
    for kind, count in _bought(cluster):
        for model, cards in _cards(kind).items():
            adapters.setdefault(model, Counter())[kind.name] += cards * count
        whole = rack_system_of(kind.system) if kind.system else None
        if whole:
            note = f"{count} trays of node type {kind.name}, {whole.trays} in a rack"
            yield Item("system", whole.id, whole.name, -(-count // whole.trays), note)
            continue
        parts = configuration(cluster, kind)
        note = f"node type {kind.name}" + ("" if kind.system else " has no catalogue system")
        yield Item("system", kind.system or kind.name, kind.title, count, f"{note}; with {parts}" if parts else note)
    stated = cluster.of(Facility).prices
    for model, counts in adapters.items():
        if stated and model in stated.items:
            adapter = nic(model)
            note = f"not in the price of {', '.join(counts)}"
            yield Item("adapter", model, adapter.name if adapter else model, counts.total(), note)


_SLOT = re.compile(r"[a-z]+p\d+s\d+")


def _cards(kind: NodeType) -> Counter[str]:
    """Adapters of a node by model. Ports of one PCI device, or of one slot by their names, are one card."""
    cards = {
        (port.model, port.pci.rpartition(".")[0] if port.pci else slot[0] if slot else port.device)
        for port in kind.ports
        if port.model
        for slot in [_SLOT.match(port.interface or "")]
    }
    return Counter(model for model, _ in cards)


def _switches(cluster: Cluster) -> Iterator[Item]:
    view = cluster.catalogue
    of_model: dict[str, Counter[str]] = {}
    for network, switches in switches_of(cluster).items():
        for switch in switches:
            of_model.setdefault(switch.model or "", Counter())[network] += 1
    for name, networks in of_model.items():
        model = view.switch(name) if name else None
        where = ", ".join(f"{count} {network}" for network, count in networks.items())
        note = where if model else f"{where}; no model is set"
        yield Item("switch", name, model.model if model else "switch", networks.total(), note)


def _cables(cluster: Cluster) -> Iterator[Item]:
    """Spares are rounded up for each line."""
    spare = cluster.of(Facility).spares
    for piece, count in sorted(pieces(cables(cluster)).items(), key=_order):
        spares = math.ceil(round(count * spare, 6)) if piece.item else 0
        yield Item(**piece._asdict(), count=count, spares=spares)


def _in_whole_racks(cluster: Cluster) -> set[str]:
    """Trays of racks that are sold with switch trays, power shelves and the cabinet."""
    groups = (group for group in cluster.groups if group.type.system and rack_system_of(group.type.system))
    return {host for group in groups for host in group.hosts}


def _pdus(cluster: Cluster) -> Iterator[Item]:
    """One for each feed, by rating, model and outlets; racks that are sold whole have shelves in their place."""
    whole = _in_whole_racks(cluster)
    circuits = Counter(
        (one.volts, one.amps, one.phases, one.pdu or "", tuple((stated_outlets(one) or {}).items()))
        for one in (feed.circuit for rack in cluster.racks if whole.isdisjoint(rack.hosts) for feed in feeds(rack))
    )
    for (volts, amps, phases, name, outlets), count in circuits.items():
        words = f"rack PDU for {volts} V, {amps} A, {'three phases' if phases == 3 else 'one phase'}"
        if outlets:
            words += ", " + " and ".join(f"{number} x {kind}" for kind, number in outlets)
        model = pdus().get(name)
        item = model.id if model else f"pdu-{volts}v-{amps}a-{phases}ph"
        yield Item(
            category="pdu",
            item=item,
            description=words,
            count=count,
            note="one for each feed",
            part=model.model if model else "",
        )


def _order(counted: tuple[Piece, int]) -> tuple[int, str, str, float]:
    piece, _ = counted
    category = ("module", "fibre", "cable", "link").index(piece.category)
    return category, piece.item, piece.description, piece.length_m or 0


def _room(cluster: Cluster) -> Iterator[Item]:
    """Racks, a rack PDU for each feed, power cords, the UPS, units of the cooling loops."""
    whole = _in_whole_racks(cluster)
    heights = Counter(rack.units for rack in cluster.racks if whole.isdisjoint(rack.hosts))
    for units, count in sorted(heights.items()):
        yield Item("rack", f"rack-{units}u", f"rack of {units} U", count)
    yield from _pdus(cluster)
    for inlet, count in sorted(cords(cluster).items()):
        outlet = power_connectors().get(inlet)
        if outlet:
            yield Item(
                "cord", f"cord-{inlet.lower()}", f"power cord, {outlet.outlet} to {inlet}", count, "one a supply"
            )
        else:
            yield Item("cord", "", "power cord, inlet not known", count)
    ups = cluster.of(Facility).ups
    if ups:
        rating = f"UPS of {Watts(ups.power_w)}" + (f", {ups.apparent_va / 1000:g} kVA" if ups.apparent_va else "")
        yield Item("ups", "ups", rating, 1)
    yield from _loops(cluster)


def _loops(cluster: Cluster) -> Iterator[Item]:
    """CDUs and chillers of each loop, with the spare ones."""
    for one in loop_loads(cluster):
        both = (("cdu", "coolant distribution unit", one.cdus), ("chiller", "chiller", one.chillers))
        for category, words, units in both:
            if units is None or not units.total:
                continue
            plant = units.plant
            model = cdus().get(plant.model or "")
            size = f" of {Watts(plant.capacity_w)}" if plant.capacity_w else ""
            note = f"loop {one.name}" + (f"; {plant.spare} may fail" if plant.spare else "")
            note += f"; {plant.pumps} pumps in each" if plant.pumps else ""
            name = model.id if model else f"{category}-{one.name}"
            yield Item(category, name, model.name if model else f"{words}{size}", units.total, note)
