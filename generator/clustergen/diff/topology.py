"""topology.conf: switches and blocks, whatever the order of their nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from clustergen.diff.change import Change, changed, folded
from clustergen.diff.lines import Settings, Sides, differences, settings, shown
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.scalars import hosts_of

_UNUSED = "LinkSpeed"  # Slurm reads it and does nothing with it


def topology(sides: Sides) -> Iterator[Change]:
    for block in ("SwitchName", "BlockName"):
        change = partial(changed, sides.release, sides.file, block)
        old, new = (_named(block, config) for config in (sides.old, sides.new))
        lost = _nodes(old) - _nodes(new)
        for name in {**old, **new}:
            before, after = old.get(name), new.get(name)
            if before is None or after is None:
                word = "added" if before is None else "removed"
                texts = [None if side is None else shown(side) for side in (before, after)]
                about = hosts_of((before or after or {}).get("Nodes", ""))
                what = [word, "lost"] if lost.intersection(about) else [word]
                yield change("", *texts, name=name, nodes=folded(about) or None, what=what)
                continue
            for each in differences(sides, block, before, after):
                apart = set(hosts_of(each.old or "")) ^ set(hosts_of(each.new or ""))
                about_nodes = folded(apart) if each.key == "Nodes" else None
                what = ["lost"] if each.key == "Nodes" and apart & lost else []
                yield change(each.key, each.old, each.new, name=name, nodes=about_nodes, what=what)
        if block == "BlockName":  # neighbours make larger blocks
            orders = [[name for name in side if name in other] for side, other in ((old, new), (new, old))]
            if orders[0] != orders[1]:
                texts = [",".join(order) for order in orders]
                yield change("order", *texts, name=",".join(orders[1]))


def _nodes(lines: dict[str, Settings]) -> set[str]:
    return {node for line in lines.values() for node in hosts_of(line.get("Nodes", ""))}


def _named(block: str, config: Config) -> dict[str, Settings]:
    by_name: dict[str, Settings] = {}
    for entry in config.entries(block):
        by_name[entry.names] = settings("topology.conf", block, entry.settings())
        by_name[entry.names].pop(_UNUSED, None)
    return by_name
