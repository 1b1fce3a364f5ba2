"""The medium of each link: the first that fits both cages and is long enough.

A cage holds one plug or one module, so links that share a cage are of one kind: whatever the longest of them needs, and
one module where their other ends are different cages. An assembly whose two plugs each serve a whole cage fits only
where all links of both cages run between these two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clustergen.catalogue.cabling import Medium, choices, stock_length
from clustergen.cluster.model import Cluster
from clustergen.facility.lengths import lengths
from clustergen.facility.model import Cable, Link

_Cage = tuple[str, str]  # device and cage
_Kind = tuple[int | None, str, str, str]  # rate, technology and connectors


def with_media(cluster: Cluster, links: Sequence[Link]) -> Iterator[Cable]:
    """The links as cables, in the same order."""
    length = lengths(cluster)
    metres = [length(link.a.device, link.b.device) for link in links]
    groups = _groups(links)
    longest: dict[_Cage, dict[_Kind, float]] = {}
    opposite: dict[_Cage, set[_Cage]] = {}
    for link, way in zip(links, metres, strict=True):
        a, b = _cages(link)
        opposite.setdefault(a, set()).add(b)
        opposite.setdefault(b, set()).add(a)
        of_group = longest.setdefault(groups[a], {})
        kind = _kind(link)
        of_group[kind] = max(of_group.get(kind, 0.0), way or 0.0)
    chosen: dict[tuple[tuple[tuple[_Kind, float], ...], bool], dict[_Kind, Medium | None]] = {}
    for link, way in zip(links, metres, strict=True):
        a, b = _cages(link)
        of_group = longest[groups[a]]
        need = (tuple(of_group.items()), opposite[a] == {b} and opposite[b] == {a})
        if need not in chosen:
            chosen[need] = _choose(*need)
        kind = _kind(link)
        medium = chosen[need][kind] if way is not None else None
        ordered = None
        if medium and way is not None:  # the plugs of one assembly have one length
            ordered = stock_length(way if medium.fibre or medium.links == 1 else of_group[kind], medium)
        yield Cable(*link, way, ordered, medium)


def _cages(link: Link) -> tuple[_Cage, _Cage]:
    return (link.a.device, link.a.cage), (link.b.device, link.b.cage)


def _kind(link: Link) -> _Kind:
    return link.gbit, link.technology, link.b.connector, link.a.connector  # a splitter has its one plug in the switch


def _choose(needs: tuple[tuple[_Kind, float], ...], alone: bool) -> dict[_Kind, Medium | None]:
    """A medium for each kind of link in a group; links of several kinds share a cage only by one module in it."""
    options = {kind: list(_fitting(kind, metres, alone)) for kind, metres in needs}
    if len(needs) == 1:
        return {kind: next(iter(media), None) for kind, media in options.items()}
    by_module = [{medium.module_a: medium for medium in reversed(media) if medium.fibre} for media in options.values()]
    shared = next((module for module in by_module[0] if all(module in media for media in by_module)), None)
    return {kind: media.get(shared or "") for kind, media in zip(options, by_module, strict=True)}


def _fitting(kind: _Kind, metres: float, alone: bool) -> Iterator[Medium]:
    gbit, technology, switch, other = kind
    for medium in choices(gbit, technology, switch, other) if gbit is not None else ():
        whole_cages = not medium.fibre and not medium.is_splitter and medium.links > 1
        if metres <= medium.reach_m and stock_length(metres, medium) is not None and (alone or not whole_cages):
            yield medium


def _groups(links: Sequence[Link]) -> dict[_Cage, _Cage]:
    """Cage → the first cage of those that links join to it, one after the other."""
    parent: dict[_Cage, _Cage] = {}

    def first(cage: _Cage) -> _Cage:
        top = cage
        while parent[top] != top:
            top = parent[top]
        while parent[cage] != top:
            parent[cage], cage = top, parent[cage]
        return top

    for link in links:
        a, b = _cages(link)
        parent.setdefault(a, a)
        parent.setdefault(b, b)
        one, two = first(a), first(b)
        if one != two:
            parent[two] = one
    return {cage: first(cage) for cage in parent}
