"""Cables of the plan that end elsewhere: on another rail, exchanged with each other, at another device or port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from clustergen.diagnostics.words import counted
from clustergen.hardware.expected import PlannedCable
from clustergen.hardware.findings import Group, Item, grouped
from clustergen.hardware.model import End, Link
from clustergen.hardware.pairing import Pairing


def rails(pairs: Pairing) -> Iterator[Group]:
    """Ports of a node on the leaf of another rail; two of one node that are exchanged are one finding."""
    wrong: dict[str, list[tuple[PlannedCable, End, Link]]] = defaultdict(list)
    for cable in pairs.wrong:
        other = pairs.link_at(cable.a)
        rails_there = pairs.expected.rails.get(other[0].device) if other else None
        if other and rails_there and pairs.expected.rails.get(cable.b.device, ()) not in ((), rails_there):
            wrong[cable.a.device].append((cable, *other))
    items = []
    for host, cables in wrong.items():
        actual = [pairs.words(other) for _, other, _ in cables]
        ends = [f"{pairs.port_words(cable.a)} is on {at}" for (cable, _, _), at in zip(cables, actual, strict=True)]
        planned = ", ".join(f"{cable.a.port} on {cable.b.device}" for cable, _, _ in cables)
        text = f"{pairs.expected.device_words(host)}: {', '.join(ends)}; planned: {planned}"
        items.append(Item(text, min(link.line for _, _, link in cables)))
        pairs.use(*(end for cable, other, _ in cables for end in (cable.a, other)))
    pairs.take([cable for cables in wrong.values() for cable, _, _ in cables])
    ports = sum(map(len, wrong.values()))
    headline = f"{counted(ports, 'port')} of {counted(len(wrong), 'node')} are on the leaf of another rail"
    hint = "exchange the cables at the node; NCCL expects that GPUs of one rail meet in one leaf"
    yield from grouped("rail-swapped", items, headline, hint)


def crossed(pairs: Pairing) -> Iterator[Group]:
    """Two cables that have exchanged their ends."""
    items, reported = [], []
    done: set[int] = set()
    for cable in pairs.wrong:
        for a, b in ((cable.a, cable.b), (cable.b, cable.a)):
            one = pairs.link_at(a)
            twin = pairs.planned.get(one[0]) if one else None
            if one is None or twin is None or twin is cable or id(cable) in done or id(twin) in done:
                continue
            far = twin.a if one[0] == twin.b else twin.b
            back = pairs.link_at(far)
            if back is None or back[0] != b:
                continue
            done |= {id(cable), id(twin)}
            reported += [cable, twin]
            text = (
                f"{pairs.words(a)} is linked with {pairs.words(one[0])}, and {pairs.words(far)} with"
                f" {pairs.words(b)}; planned: {a.device} with {b.device}, {far.device} with {one[0].device}"
            )
            items.append(Item(text, one[1].line))
            pairs.use(a, one[0], far, b)
    pairs.take(reported)
    headline = f"{counted(len(items), 'pair')} of cables have exchanged their ends"
    yield from grouped("cable-crossed", items, headline, "exchange the two cables at one of their ends")


def misplaced(pairs: Pairing) -> Iterator[Group]:
    """Cables with one end at another device, which no other cable has left."""
    items, reported = [], []
    for cable in pairs.wrong:
        for end, planned in ((cable.a, cable.b), (cable.b, cable.a)):
            other = pairs.link_at(end)
            if other is None or pairs.lacks_name(other[0]) or other[0] in pairs.used:
                continue
            where = pairs.words(other[0])
            text = f"{pairs.words(end)} is linked with {where}; planned: {pairs.words(planned)}"
            items.append(Item(text, other[1].line))
            pairs.use(end, other[0])
            reported.append(cable)
            break
    pairs.take(reported)
    headline = f"{counted(len(items), 'cable')} end at another device than planned"
    yield from grouped("cable-misplaced", items, headline, "move the cable to the planned port, or correct the plan")


def other_ports(pairs: Pairing) -> Iterator[Group]:
    """Cables that join the right devices by other ports than planned."""
    if pairs.has_other_port_names:
        return
    items = []
    for cable, end, other, link in pairs.moved:
        moved = [(planned, seen) for planned, seen in ((cable.a, end), (cable.b, other)) if planned != seen]
        ends = " and ".join(f"in port {seen.port} of {seen.device}" for _, seen in moved)
        ports = " and ".join(f"port {planned.port}" for planned, _ in moved)
        text = f"{cable.a.device} – {cable.b.device}: a cable is {ends} instead of {ports}"
        items.append(Item(text, link.line))
    headline = f"{len(items):,} of {counted(len(pairs.right), 'cable')} are in other ports of the right devices"
    hint = "move them, or go by the fabric's ports: traffic is the same, but the plan's cable list is not"
    yield from grouped("cable-port", items, headline, hint)
