"""Lines that stand alone, and blocks that need no more than their name: most of slurm.conf and related files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from clustergen.catalogue import slurm
from clustergen.diff.change import KINDS, Change, changed, folded
from clustergen.diff.lines import Settings, Sides, differences, own_lines, settings, shown
from clustergen.slurmconf import scalars
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.scalars import hosts_of


def plain(sides: Sides, *, leave: frozenset[str] = frozenset()) -> Iterator[Change]:
    """Changes of all lines but those whose first key is in `leave` (lower case)."""
    file = sides.base
    old, new = (own_lines(file, config, leave=leave) for config in (sides.old, sides.new))
    if sides.old_release != sides.release and file == "slurm.conf" and old and new:
        # What neither side says may mean something else now.
        for row in slurm.keys(file):
            if row.state(sides.old_release) == row.state(sides.release) == "known":
                old.setdefault(row.key, "")
    for each in differences(sides, "", old, new):
        what = (*each.what, "few ids") if each.key in _IDS and _are_few_ids(sides, old, new) else each.what
        yield changed(sides.release, sides.file, "", each.key, each.old, each.new, what=what)
    for block in slurm.files().get(file, ()):
        if block.lower() not in leave:
            yield from entries(sides, block)


_IDS = ("FirstJobId", "MaxJobId")


def _are_few_ids(sides: Sides, old: Settings, new: Settings) -> bool:
    """True if there are fewer job ids than before and than job records: Slurm then keeps only so many records."""

    def number(of: Settings, key: str) -> int:
        return scalars.unsigned(of.get(key) or slurm.default("slurm.conf", "", key, sides.release) or "") or 0

    before, after = (number(of, "MaxJobId") - number(of, "FirstJobId") for of in (old, new))
    return after < before and after < number(new, "MaxJobCount")


def entries(sides: Sides, block: str) -> Iterator[Change]:
    """Changes of the lines that one key opens, each known by what stands behind that key."""
    change = partial(changed, sides.release, sides.file, block)
    old, new = (_named(sides.base, block, config) for config in (sides.old, sides.new))
    if block not in KINDS and len(old) == len(new) == 1 and old.keys() != new.keys():
        ((first, one),), ((second, other),) = old.items(), new.items()
        yield change("", first, second, what=("removed", "added"))
        for each in differences(sides, block, one, other):
            yield change(each.key, each.old, each.new, name=second, what=each.what)
        return
    for name in {**old, **new}:
        nodes = name if block in ("NodeName", "DownNodes") else None
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            word = "added" if before is None else "removed"
            texts = [None if side is None else shown(side) for side in (before, after)]
            if block not in KINDS:
                texts = [None if text is None else f"{name} {text}".rstrip() for text in texts]
            yield change("", *texts, name=name, nodes=nodes, what=(word,))
            continue
        for each in differences(sides, block, before, after):
            yield change(each.key, each.old, each.new, name=name, nodes=nodes, what=each.what)


def _named(file: str, block: str, config: Config) -> dict[str, Settings]:
    by_name: dict[str, Settings] = {}
    for entry in config.entries(block):
        name = folded(hosts_of(entry.names))
        twice = 1
        while name in by_name:  # several lines for the same nodes, as in helpers.conf
            twice += 1
            name = f"{folded(hosts_of(entry.names))} ({twice})"
        by_name[name] = settings(file, block, entry.settings())
    return by_name
