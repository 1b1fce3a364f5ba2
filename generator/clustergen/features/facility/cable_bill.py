"""The cables to buy: modules by cage, fibres by port, assemblies by plug.

A module of a twin cage serves both of its ports. A splitter, fibre or copper, counts once for all of its plugs, and a
straight twin cable once for both of its links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from clustergen.catalogue.cabling import Medium
from clustergen.facility.model import Cable
from clustergen.facility.unfit import cause_text


class Piece(NamedTuple):
    """Something to buy. `category`: module, fibre or cable; link where nothing was chosen."""

    category: str
    item: str  # what prices call it
    description: str
    part: str
    length_m: float | None
    note: str = ""


def pieces(cables: Iterable[Cable]) -> Counter[Piece]:
    """Counts of all pieces. Linear in the cables."""
    counts: Counter[Piece] = Counter()
    modules: dict[tuple[str, str, str], Piece] = {}
    shared: dict[tuple[str, ...], list[float]] = {}
    media: dict[str, Medium] = {}
    single: Counter[tuple[str, float]] = Counter()
    for cable in cables:
        medium = cable.medium
        if medium is None or cable.length_m is None:
            counts[Piece("link", "", cause_text(cable), "", None, "cable not chosen")] += 1
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
