"""Cables, transceivers and fibres: what can join two ports, how far it reaches and in which lengths it is sold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from clustergen.catalogue.tables import NOTHING, keyed, table, words
from clustergen.records import copied, record


@record
class Connector:
    """A kind of cage, and the plugs that fit into it."""

    id: str
    name: str
    ports: int
    """The most ports that one cage has: 2 where one module serves two."""
    plugs: tuple[str, ...]
    """Ids of the connectors whose plugs fit, the cage's own first."""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class Cable:
    """A cable assembly with its plugs, or a family of transceivers with its fibre."""

    id: str
    fabrics: tuple[str, ...]
    gbits: tuple[int, ...]
    """Rates of one link, in Gb/s."""
    medium: str
    links: int
    is_splitter: bool
    reach_m: float
    family: str = ""
    """The maker's name of the assembly, without its length; empty for transceivers."""
    parts: tuple[str, ...] = ()
    plug_a: str = ""
    plug_b: str = ""
    ports_a: int | None = None
    ports_b: int | None = None
    watts_a: float | None = None
    watts_b: float | None = None
    fibre: str = ""
    fibre_ends: str = ""
    stock_m: tuple[float, ...] = ()
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class Transceiver:
    """One module of a family, for one kind of cage."""

    family: str
    """Id in `cables()`."""
    connector: str
    part: str
    ports: int
    """Ports that one module serves at the family's rate."""
    parts: tuple[str, ...] = ()
    watts: float | None = None
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class Medium:
    """One way to join a port at end a with a port at end b.

    An assembly whose `ports_b` is 2 joins two whole cages: both of its links run between the same two cages. A splitter
    has one plug at end a, and `links` plugs at end b.
    """

    id: str
    """Id in `cables()`."""
    medium: str
    """passive copper, active copper, active optical, multimode, single-mode or twisted pair."""
    gbit: int
    reach_m: float
    """The longest assembly, or the longest fibre from module to module."""
    netbox_type: str
    """NetBox's cable type, such as `dac-passive`."""
    stock_m: tuple[float, ...]
    """Lengths that are sold, in metres, shortest first; none is longer than `reach_m`."""
    family: str
    """The assembly's name without its length, such as `MCP7Y00-N`; empty where transceivers are used."""
    module_a: str
    """The transceiver at end a; empty for an assembly."""
    module_b: str
    fibre: str
    """The fibre's family (`MFP7E10-N`) or its kind (`OM4`); empty for an assembly."""
    fibre_ends: str
    """The fibre's own connectors, such as `MPO-12/APC`."""
    links: int
    """Fabric links that one assembly or one fibre carries."""
    ports_a: int
    """Ports at end a that one plug or module serves."""
    ports_b: int
    is_splitter: bool
    watts_a: float | None
    """Power of one plug or module at end a, in watts; None: not known."""
    watts_b: float | None
    parts: tuple[str, ...] = ()
    """Order numbers that were seen; not one for each length."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    """Fields of this record that no source confirmed."""
    source: tuple[str, ...] = ()


@record
class _Kind:
    name: str
    netbox_type: str
    stock_m: tuple[float, ...]
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


def _lengths(text: str) -> tuple[float, ...]:
    return tuple(map(float, words(text)))


connectors = keyed("connectors.tsv", Connector, lambda row: row.id)
"""All connectors by id: the closed list that every other table uses."""
cables = keyed("cables.tsv", Cable, lambda row: row.id, stock_m=_lengths)
"""All cable assemblies and families of transceivers by id."""


@cache
def transceivers() -> dict[str, tuple[Transceiver, ...]]:
    """The modules of each family, by the id of the family in `cables()`."""
    families: dict[str, list[Transceiver]] = {}
    for module in table("transceivers.tsv", Transceiver):
        families.setdefault(module.family, []).append(module)
    return {family: tuple(modules) for family, modules in families.items()}


_kinds = keyed("media.tsv", _Kind, lambda row: row.name, stock_m=_lengths)


def media() -> tuple[str, ...]:
    """The names of all media in order of preference: passive copper first."""
    return tuple(_kinds())


@cache
def choices(gbit: int, fabric: str, connector_a: str, connector_b: str) -> tuple[Medium, ...]:
    """Cables and modules that can carry one link of `gbit` Gb/s between two cages, best first; empty where nothing
    fits.

    `fabric` is infiniband or ethernet. `connector_a` and `connector_b` are ids in `connectors()`; with a splitter
    between two alike, end a is the one with the single plug, so put the switch there. An empty connector (not known)
    fits nothing. ValueError for any other text that is not a connector.

    Order: as in `media()`; then plugs of the cage's own kind, the shorter reach, and the id. The caller compares
    `reach_m` with the length. Sources: cables.tsv and transceivers.tsv.
    """
    for connector in (connector_a, connector_b):
        if connector and connector not in connectors():
            raise ValueError(f"{connector!r} is not a connector; known are {', '.join(connectors())}")
    if not connector_a or not connector_b:
        return ()
    plugs_a, plugs_b = connectors()[connector_a].plugs, connectors()[connector_b].plugs
    ranked = []
    for cable in cables().values():
        if gbit in cable.gbits and fabric in cable.fabrics:
            if cable.plug_a:
                match = _assembly(cable, gbit, plugs_a, plugs_b)
            else:
                match = _transceivers(cable, gbit, plugs_a, plugs_b)
            if match is not None:
                ranked.append(match)
    order = media()
    ranked.sort(key=lambda pair: (order.index(pair[1].medium), pair[0], pair[1].reach_m, pair[1].id))
    return tuple(medium for _, medium in ranked)


def fitting_connector(connectors: Sequence[str], other: str, gbit: int, fabric: str) -> str:
    """The first of an adapter's possible connectors that something joins to `other`; the first of all where none does.

    An adapter that is sold with several cages is ordered with the one that its switch asks for.
    """
    return next((one for one in connectors if choices(gbit, fabric, other, one)), connectors[0])


def stock_length(metres: float, medium: Medium) -> float | None:
    """The shortest length in stock, in metres, that is at least `metres`; None where the medium has none.

    ValueError for a length that is negative or not a number.
    """
    if not metres >= 0:
        raise ValueError(f"{metres} m is not a length")
    return next((length for length in medium.stock_m if length >= metres or math.isclose(length, metres)), None)


def _assembly(cable: Cable, gbit: int, plugs_a: tuple[str, ...], plugs_b: tuple[str, ...]) -> tuple[int, Medium] | None:
    """How far the plugs are from the cages' own kind, and the medium; None where a plug does not fit."""
    if cable.plug_a in plugs_a and cable.plug_b in plugs_b:
        turned = False
    elif cable.plug_a in plugs_b and cable.plug_b in plugs_a:
        turned = True
    else:
        return None
    ends = [(cable.ports_a or 1, cable.watts_a), (cable.ports_b or 1, cable.watts_b)]
    (ports_a, watts_a), (ports_b, watts_b) = reversed(ends) if turned else ends
    plug_a, plug_b = (cable.plug_b, cable.plug_a) if turned else (cable.plug_a, cable.plug_b)
    swap = {"watts_a": "watts_b", "watts_b": "watts_a", "ports_a": "ports_b", "ports_b": "ports_a"} if turned else {}
    unverified = {swap.get(field, field) for field in cable.unverified}
    medium = _medium(cable, gbit, ports=(ports_a, ports_b), watts=(watts_a, watts_b), unverified=unverified)
    return plugs_a.index(plug_a) + plugs_b.index(plug_b), medium


def _transceivers(
    cable: Cable, gbit: int, plugs_a: tuple[str, ...], plugs_b: tuple[str, ...]
) -> tuple[int, Medium] | None:
    a, b = _module(cable.id, plugs_a), _module(cable.id, plugs_b)
    if a is None or b is None or (cable.is_splitter and a.ports == b.ports):
        return None
    unverified = set(cable.unverified)
    for end, module in (("a", a), ("b", b)):
        names = {"part": f"module_{end}", "watts": f"watts_{end}", "ports": f"ports_{end}"}
        unverified |= {names[field] for field in module.unverified if field in names}
    medium = _medium(
        cable,
        gbit,
        ports=(a.ports, b.ports),
        watts=(a.watts, b.watts),
        unverified=unverified,
        modules=(a.part, b.part),
        source=(*a.source, *b.source),
    )
    return plugs_a.index(a.connector) + plugs_b.index(b.connector), medium


def _module(family: str, plugs: tuple[str, ...]) -> Transceiver | None:
    modules = {module.connector: module for module in transceivers().get(family, ())}
    return next((modules[plug] for plug in plugs if plug in modules), None)


def _medium(
    cable: Cable,
    gbit: int,
    *,
    ports: tuple[int, int],
    watts: tuple[float | None, float | None],
    unverified: set[str],
    modules: tuple[str, str] = ("", ""),
    source: tuple[str, ...] = (),
) -> Medium:
    kind = _kinds()[cable.medium]
    if not cable.stock_m:
        unverified |= kind.unverified
    return copied(
        Medium,
        cable,
        gbit=gbit,
        netbox_type=kind.netbox_type,
        stock_m=tuple(length for length in cable.stock_m or kind.stock_m if length <= cable.reach_m),
        module_a=modules[0],
        module_b=modules[1],
        ports_a=ports[0],
        ports_b=ports[1],
        watts_a=watts[0],
        watts_b=watts[1],
        unverified=frozenset(unverified),
        source=tuple(dict.fromkeys((*cable.source, *source))),
    )
