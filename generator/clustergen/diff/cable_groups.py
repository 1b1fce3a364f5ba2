"""Cable changes that are alike, as one: hundreds of cables are a line to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clustergen.diff.change import folded
from clustergen.diff.room import CableChange, Kind


class CableGroup(NamedTuple):
    """Cable changes that are alike: one network, and upper ends in common."""

    kind: Kind
    network: str
    number: int
    a: str
    """Devices at the lower end, folded."""
    b: str
    """Devices at the upper end, folded; of moved cables those before."""
    b_new: str
    """Of moved cables, the devices at the upper end afterwards; else the same as `b`."""
    kinds: tuple[tuple[str, int], ...]
    """`mm-ndr 10 m` → how many; of replaced cables `dac-hdr 1 m → dac-hdr 2 m`."""


def cable_groups(changes: Iterable[CableChange]) -> list[CableGroup]:
    """In order of the changes. Cables to devices that share another lower end are one group."""
    of_device: dict[tuple[Kind, str, str], list[CableChange]] = {}
    for change in changes:
        of_device.setdefault((change.kind, change.cable.network, change.cable.a[0]), []).append(change)
    group_of: dict[tuple[Kind, str, str], int] = {}
    """Kind, network and upper device → its group."""
    groups: dict[int, list[CableChange]] = {}
    for number, ((kind, network, _), members) in enumerate(of_device.items()):
        tops = [(kind, network, change.cable.b[0]) for change in members]
        joined = {group_of[top] for top in tops if top in group_of}
        target = max(joined, key=lambda group: len(groups[group]), default=number)
        group = groups.setdefault(target, [])
        for other in joined - {target}:
            merged = groups.pop(other)
            group_of.update(((kind, network, change.cable.b[0]), target) for change in merged)
            group += merged
        group += members
        group_of.update(dict.fromkeys(tops, target))
    return [_group(members) for members in groups.values()]


def _group(members: Sequence[CableChange]) -> CableGroup:
    first = members[0]
    return CableGroup(
        kind=first.kind,
        network=first.cable.network,
        number=len(members),
        a=folded(change.cable.a[0] for change in members),
        b=folded((change.old or change.cable).b[0] for change in members),
        b_new=folded((change.new or change.cable).b[0] for change in members),
        kinds=tuple(Counter(map(_carried_by, members)).items()),
    )


def _carried_by(change: CableChange) -> str:
    names = [str(cable) for cable in (change.old, change.new) if cable is not None]
    return " → ".join(dict.fromkeys(name for name in names if name))
