"""Names of node types: what the site calls such nodes, and what tells those of one name apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from clustergen.adopt.mig import PROFILE
from clustergen.plan.values import gres_of

_LONGEST = 60
_TAKEN = frozenset(("service",))


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


def kind(found: Mapping[str, str], cpus: int, memory_mib: int) -> Kind:
    """Of the keys of a NodeName line. `cpus`: as Slurm counts them."""
    return Kind([], gres_of(found.get("Gres", "")), max(1, round(memory_mib / 1024)), cpus)


def names_of(kinds: Sequence[Kind]) -> list[str]:
    """One for each: that of most nodes of a name is called by that name alone, the others by what is different."""
    groups: dict[str, list[Kind]] = {}
    for one in kinds:
        groups.setdefault(_stem(one.hosts), []).append(one)
    found: dict[int, str] = {}
    taken = set(_TAKEN)
    for stem, alike in groups.items():
        usual = max(alike, key=lambda one: len(one.hosts))  # the first of them
        for one in (usual, *(one for one in alike if one is not usual)):
            text = stem if one is usual else "-".join((stem, *_told(one, usual, alike)))[:_LONGEST].rstrip("-")
            tries = (text, *(f"{text}-{number}" for number in range(2, len(kinds) + 3)))
            name = next(word for word in tries if word not in taken)
            taken.add(name)
            found[id(one)] = name
    return [found[id(one)] for one in kinds]


def _stem(hosts: Sequence[str]) -> str:
    """`gpu-a100` of gpu-a100-01 and -02; up to the first number where the hosts have less in common."""
    stems = {re.sub(r"[-_.]*[0-9]+$", "", host.lower().partition(".")[0]) for host in hosts}
    text = stems.pop() if len(stems) == 1 else re.sub(r"[0-9].*$", "", hosts[0].lower())
    text = re.sub(r"[^a-z0-9_-]", "-", text).strip("-_")
    return text if re.match(r"[a-z]", text) else "node"


def _told(one: Kind, usual: Kind, alike: Iterable[Kind]) -> list[str]:
    """The fewest words that no other has: of its Gres, memory and CPUs, as far as they are not the usual ones."""
    others = [other for other in alike if other is not one]
    own = [index for index in range(3) if one.trait(index) != usual.trait(index)]
    for size in range(1, len(own) + 1):
        for chosen in combinations(own, size):
            if all(any(one.trait(index) != other.trait(index) for index in chosen) for other in others):
                return [_word(one, index, usual, others) for index in chosen]
    return [_word(one, index, usual, others) for index in own]


def _word(one: Kind, index: int, usual: Kind, others: Iterable[Kind]) -> str:
    if index == 1:
        return f"{one.memory_gib}g"
    if index == 2:
        return f"{one.cpus}cpu"
    told = any(other.gres.keys() == one.gres.keys() for other in others)  # the same things, in another number
    shown = {thing: count for thing, count in one.gres.items() if told or thing not in usual.gres}
    words = (
        "mig" if PROFILE.search(text) else f"{count}x-{text or name}" if told else text or name
        for (name, text), count in shown.items()
    )
    return re.sub(r"[^a-z0-9]+", "-", "-".join(dict.fromkeys(words))).strip("-") or "plain"
