"""PartitionName and NodeSet lines of slurm.conf, with their nodes as Slurm makes them out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from clustergen.diff.change import Change, changed, folded
from clustergen.diff.lines import Settings, Sides, differences, settings, shown
from clustergen.diff.nodes import Nodes
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.scalars import hosts_of

_BLOCK = "PartitionName"


class Members:
    """The members of a `Nodes=` of one slurm.conf: hosts, ALL, names of node sets."""

    def __init__(self, config: Config, nodes: Nodes) -> None:
        self._nodes = nodes
        self._sets = {entry.names: entry for entry in config.entries("NodeSet")}
        self._hosts: dict[str, dict[str, None]] = {}

    def of(self, text: str | None) -> dict[str, None]:
        """Each host once, in the order of the list."""
        if not text:
            return {}
        if text not in self._hosts:
            self._hosts[text] = dict.fromkeys(self._expanded(text))
        return self._hosts[text]

    def _expanded(self, text: str) -> Iterator[str]:
        names = hosts_of(text)
        if not self._sets and "all" not in text.lower():
            yield from names
            return
        for name in names:
            if name.lower() == "all":
                yield from self._nodes.line_of
            elif name in self._sets:
                entry = self._sets[name]
                yield from (host for host in hosts_of(entry.text("Nodes") or "") if host not in self._sets)
                words = frozenset(word.strip() for word in (entry.text("Feature") or "").split(",") if word.strip())
                yield from self._nodes.with_features(words)
            else:
                yield name


def partitions(sides: Sides, old_nodes: Nodes, new_nodes: Nodes, keeps: frozenset[str]) -> Iterator[Change]:
    """`keeps`: the words of ReconfigFlags, in lower case."""
    change = partial(changed, sides.release, sides.file, _BLOCK)
    old_members, new_members = Members(sides.old, old_nodes), Members(sides.new, new_nodes)
    old, new = (_named(config) for config in (sides.old, sides.new))
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        previous, current = old_members.of((before or {}).get("Nodes")), new_members.of((after or {}).get("Nodes"))
        if before is None or after is None:
            word = "added" if before is None else "removed"
            texts = [None if side is None else shown(side) for side in (before, after)]
            listed = folded(previous | current)
            yield change("", *texts, name=name, nodes=listed, what=(word,))
            continue
        for difference in differences(sides, _BLOCK, before, after):
            about, what = previous | current, difference.what
            if difference.key == "Nodes":
                lost = [host for host in previous if host not in current]
                about = dict.fromkeys([*lost, *(host for host in current if host not in previous)])
                what = ("lost",) if lost else ()
                what += ("fewer",) if len(current) < len(previous) else ()
                if not about:
                    continue
            if "keeppartinfo" in keeps or (difference.key == "State" and "keeppartstate" in keeps):
                what = ("kept", *what)
            yield change(difference.key, difference.old, difference.new, name=name, nodes=folded(about), what=what)


def _named(config: Config) -> dict[str, Settings]:
    return {entry.names: settings("slurm.conf", _BLOCK, entry.settings()) for entry in config.entries(_BLOCK)}
