"""Names of node types: what the site calls such nodes, and what tells those of one name apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from clustergen.importer.mig import PROFILE
from clustergen.slurmconf import scalars

_LONGEST = 60
_TAKEN = frozenset(("service",))
_CHOICES = tuple(chosen for size in (1, 2, 3) for chosen in combinations(range(3), size))
"""Of the three traits."""


@dataclass(slots=True)
class Kind:
    """Nodes of one hardware."""

    hosts: list[str]
    gres: Mapping[tuple[str, str], int]
    memory_gib: int
    cpus: int
    words: list[str] = field(default_factory=list)

    def trait(self, index: int) -> object:
        return (tuple(sorted(self.gres.items())), self.memory_gib, self.cpus)[index]


def kind(keys: Mapping[str, str], cpus: int, memory_mib: int) -> Kind:
    """Of the keys of a NodeName line. `cpus`: as Slurm counts them."""
    return Kind([], scalars.gres(keys.get("Gres", "")), max(1, round(memory_mib / 1024)), cpus)


def names_of(kinds: Sequence[Kind]) -> list[str]:
    """One for each: that of most nodes of a name is called by that name alone, the others by what is different."""
    groups: dict[str, list[Kind]] = {}
    for one in kinds:
        groups.setdefault(_stem(one.hosts), []).append(one)
    names: dict[int, str] = {}
    taken = set(_TAKEN)
    last: Counter[str] = Counter()
    """Text → the last number that was put behind it."""
    for stem, alike in groups.items():
        usual = max(alike, key=lambda one: len(one.hosts))  # the first of them
        counts = _Counts(alike)
        for one in (usual, *(one for one in alike if one is not usual)):
            text = stem if one is usual else "-".join((stem, *_distinctions(one, usual, counts)))[:_LONGEST].rstrip("-")
            name = text
            while name in taken:
                last[text] = max(last[text], 1) + 1
                name = f"{text}-{last[text]}"
            taken.add(name)
            names[id(one)] = name
    return [names[id(one)] for one in kinds]


class _Counts:
    """How many kinds of one stem have some traits in common, and the same GRES, in whatever number."""

    def __init__(self, alike: Sequence[Kind]) -> None:
        self.things = Counter(frozenset(one.gres) for one in alike)
        self._same = {chosen: Counter(_traits(one, chosen) for one in alike) for chosen in _CHOICES}

    def has_alone(self, one: Kind, chosen: tuple[int, ...]) -> bool:
        """True if no other kind has these traits."""
        return self._same[chosen][_traits(one, chosen)] == 1


def _traits(one: Kind, chosen: tuple[int, ...]) -> tuple[object, ...]:
    return tuple(map(one.trait, chosen))


def _stem(hosts: Sequence[str]) -> str:
    """`gpu-a100` of gpu-a100-01 and -02; up to the first number where the hosts have less in common."""
    stems = {re.sub(r"[-_.]*[0-9]+$", "", host.lower().partition(".")[0]) for host in hosts}
    text = stems.pop() if len(stems) == 1 else re.sub(r"[0-9].*$", "", hosts[0].lower())
    text = re.sub(r"[^a-z0-9_-]", "-", text).strip("-_")
    return text if re.match(r"[a-z]", text) else "node"


def _distinctions(one: Kind, usual: Kind, counts: _Counts) -> list[str]:
    """The fewest words that no other has: of its Gres, memory and CPUs, as far as they are not the usual ones."""
    differing = [index for index in range(3) if one.trait(index) != usual.trait(index)]
    for size in range(1, len(differing) + 1):
        for chosen in combinations(differing, size):
            if counts.has_alone(one, chosen):
                return [_word(one, index, usual, counts) for index in chosen]
    return [_word(one, index, usual, counts) for index in differing]


def _word(one: Kind, index: int, usual: Kind, counts: _Counts) -> str:
    if index == 1:
        return f"{one.memory_gib}g"
    if index == 2:
        return f"{one.cpus}cpu"
    is_same_gres = counts.things[frozenset(one.gres)] > 1  # the same things, in another number
    shown = {thing: count for thing, count in one.gres.items() if is_same_gres or thing not in usual.gres}
    words = (
        "mig" if PROFILE.search(text) else f"{count}x-{text or name}" if is_same_gres else text or name
        for (name, text), count in shown.items()
    )
    return re.sub(r"[^a-z0-9]+", "-", "-".join(dict.fromkeys(words))).strip("-") or "plain"
