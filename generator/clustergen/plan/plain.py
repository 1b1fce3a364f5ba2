"""Lines that stand alone, and blocks that need no more than their name: most of slurm.conf and its kin."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.plan.change import Change, changed, folded
from clustergen.plan.lines import Settings, Sides, differences, own_lines, settings, shown
from clustergen.plan.values import hosts_of
from clustergen.slurmconf.folder import Config


def plain(sides: Sides, *, leave: frozenset[str] = frozenset()) -> Iterator[Change]:
    """Changes of all lines but those whose first key is in `leave` (lower case)."""
    file = sides.base
    old, new = (own_lines(file, config, leave=leave) for config in (sides.old, sides.new))
    if sides.old_release != sides.release and file == "slurm.conf" and old and new:
        # What neither side says may mean something else now.
        for known in slurm.keys(file):
            if known.state(sides.old_release) == known.state(sides.release) == "known":
                old.setdefault(known.key, "")
    for found in differences(sides, "", old, new):
        yield changed(sides.release, sides.file, "", found.key, found.old, found.new, what=found.what)
    for block in slurm.files().get(file, ()):
        if block.lower() not in leave:
            yield from entries(sides, block)


def entries(sides: Sides, block: str) -> Iterator[Change]:
    """Changes of the lines that one key opens, each known by what stands behind that key."""
    old, new = (_named(sides.base, block, config) for config in (sides.old, sides.new))
    for name in {**old, **new}:
        nodes = name if block in ("NodeName", "DownNodes") else None
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            word = "added" if before is None else "removed"
            texts = [None if side is None else shown(side) for side in (before, after)]
            yield changed(sides.release, sides.file, block, "", *texts, name=name, nodes=nodes, what=(word,))
            continue
        for found in differences(sides, block, before, after):
            yield changed(
                sides.release,
                sides.file,
                block,
                found.key,
                found.old,
                found.new,
                name=name,
                nodes=nodes,
                what=found.what,
            )


def _named(file: str, block: str, config: Config) -> dict[str, Settings]:
    found: dict[str, Settings] = {}
    for entry in config.entries(block):
        name = folded(hosts_of(entry.names))
        twice = 1
        while name in found:  # several lines for the same nodes, as in helpers.conf
            twice += 1
            name = f"{folded(hosts_of(entry.names))} ({twice})"
        found[name] = settings(file, block, entry.settings())
    return found
