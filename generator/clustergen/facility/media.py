"""What carries each link: the first medium that fits both cages and reaches far enough.

A cage holds one plug or one module, so links that share a cage are of one kind: whatever the longest of them needs. An
assembly whose two plugs each serve a whole cage fits only where all links of both cages run between these two.
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
    longest: dict[tuple[_Cage, _Kind], float] = {}
    opposite: dict[_Cage, set[_Cage]] = {}
    for link, way in zip(links, metres, strict=True):
        a, b = _cages(link)
        opposite.setdefault(a, set()).add(b)
        opposite.setdefault(b, set()).add(a)
        key = (groups[a], _kind(link))
        longest[key] = max(longest.get(key, 0.0), way or 0.0)
    chosen: dict[tuple[_Kind, float, bool], Medium | None] = {}
    for link, way in zip(links, metres, strict=True):
        a, b = _cages(link)
        kind = _kind(link)
        alone = opposite[a] == {b} and opposite[b] == {a}
        need = (kind, longest[groups[a], kind], alone)
        if need not in chosen:
            chosen[need] = _choose(*need)
        medium = chosen[need] if way is not None else None
        ordered = stock_length(way, medium) if medium and way is not None else None
        yield Cable(*link, way, ordered, medium)


def _cages(link: Link) -> tuple[_Cage, _Cage]:
    return (link.a.device, link.a.cage), (link.b.device, link.b.cage)


def _kind(link: Link) -> _Kind:
    return link.gbit, link.technology, link.b.connector, link.a.connector  # a splitter has its one plug in the switch


def _choose(kind: _Kind, metres: float, alone: bool) -> Medium | None:
    gbit, technology, switch, other = kind
    if gbit is None:
        return None
    for medium in choices(gbit, technology, switch, other):
        whole_cages = not medium.fibre and not medium.is_splitter and medium.links > 1
        if metres <= medium.reach_m and stock_length(metres, medium) is not None and (alone or not whole_cages):
            return medium
    return None


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
