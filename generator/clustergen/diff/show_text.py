"""A plan for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from clustergen.diagnostics.words import counted
from clustergen.diff.change import Change, folded
from clustergen.diff.families import FIRST, Family, families
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.messages import cut, grouped, reason, subject, title, verdict
from clustergen.diff.plan import Plan
from clustergen.diff.room_lines import room_lines
from clustergen.diff.totals import totals
from clustergen.records import record
from clustergen.render.effects import NONE

_LONGEST = 100
_LONGEST_COMMAND = 2000
_CAUSES, _SILENT = 3, 10  # values of the manifest that are named
_ROOM = 12  # lines of a kind about the machine room
_JOBS, _LONGEST_JOBS = 10, 240  # kinds of running and pending jobs that are named, and how much of each
_BOLD, _PLAIN = "\033[1m", "\033[0m"
_COLOURS = {"+": "\033[32m", "-": "\033[31m", "~": "\033[33m"}


@record
class Screen:
    """A terminal with colours, or any other reader."""

    colour: bool

    def bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_PLAIN}" if self.colour else text

    def signed(self, sign: str, text: str) -> str:
        """`+ text` in green, `- text` in red, `~ text` in yellow."""
        return f"{_COLOURS[sign]}{sign}{_PLAIN} {text}" if self.colour else f"{sign} {text}"


def text(plan: Plan, *, colour: bool = False, checks: bool = False) -> str:
    """The verdict first, the totals last; of changes that are alike only the first few: there may be hundreds.

    `checks`: each step with what holds before and after it, and what takes it back.
    """
    return "".join(f"{line}\n" for line in _lines(plan, Screen(colour), checks=checks))


def _lines(plan: Plan, screen: Screen, *, checks: bool) -> Iterator[str]:
    yield screen.bold(f"{plan.cluster}: {verdict(plan)}")
    sides = ((plan.old, plan.old_commit), (plan.new, plan.new_commit))
    names = [f"{name} ({commit})" if commit else name for name, commit in sides]
    yield f"{' → '.join(names)}{plan.releases}"
    if plan.empty and not plan.manifest_changes:
        return
    harmless: list[Family] = []
    left_out = 0
    for heading, changes in grouped(plan.changes).items():
        merged = families(changes)
        left_out += sum(len(family.more) for family in merged if not family.directory)  # its line has all of them
        if heading == title(NONE):
            harmless = merged
            continue
        yield ""
        yield screen.bold(heading)
        yield from _changes(plan, merged, screen)
    if harmless:
        yield ""
        yield screen.bold(title(NONE))
        for family in harmless:
            why = f": {family.first.reason}" if family.first.reason else ""
            yield from (line if line.startswith("    ") else f"{line}{why}" for line in _family(family, screen))
        yield from _places(
            plan.only_behind([change for family in harmless for change in family.changes]), "      ", _CAUSES
        )
    yield from _hosts(plan, screen)
    yield from _machine_room(plan, screen)
    for values, what in plan.other_manifest_changes():
        yield ""
        yield screen.bold(f"{'other ' if plan.has_causes else ''}manifest changes ({what})")
        yield from _places(values, "  ", _SILENT)
    for name, jobs in (("running jobs", plan.running), ("pending jobs", plan.waiting)):
        if jobs:
            yield ""
            yield screen.bold(name)
            yield from (f"  {cut(each.text, _LONGEST_JOBS)}: {each.state}" for each in jobs[:_JOBS])
            if len(jobs) > _JOBS:
                yield f"  … and {len(jobs) - _JOBS:,} more"
    if plan.steps:
        yield ""
        yield screen.bold("steps to apply it")
        for number, step in enumerate(plan.steps, 1):
            by = f" ({cut(step.by, _LONGEST_COMMAND)})" if step.by else ""
            yield f"  {number}. {step.text}" + (f": {cut(step.hosts, _LONGEST)}" if step.hosts else "") + by
            if checks and step.row:
                yield f"     {'; '.join(step.checks)}"
    yield ""
    if left_out:
        total = counted(len(plan.changes), "change")
        yield f"{left_out:,} of {total} are not shown here: --format json has all of them"
    yield screen.bold(f"Plan: {totals(plan)}.")


def _changes(plan: Plan, merged: Sequence[Family], screen: Screen) -> Iterator[str]:
    """Changes with the same effects; reasons are printed once for neighbours that share them."""
    whys = [(family.causes(plan), reason(family.first), family.first.source) for family in merged]
    for family, why, following in zip_longest(merged, whys, whys[1:]):
        yield from _family(family, screen)
        if why == following:
            continue
        causes, because, source = why
        yield from _places(causes, "      ", _CAUSES)
        yield f"      {because}" + (f" [{source}]" if source else "")


def _family(family: Family, screen: Screen) -> Iterator[str]:
    indent = "  "
    if family.directory:
        names = list(dict.fromkeys(change.file.rpartition("/")[2] for change in family.changes))
        about = f"{family.what}{_nodes(family.nodes)}: {', '.join(names[:FIRST])} and {len(names) - FIRST:,} more"
        yield f"  {screen.signed(family.first.sign, about)}"
        return
    if family.large:
        about = f"{family.what}{_sides(family.first, family.old, family.new)}{_nodes(family.nodes)}"
        yield f"  {screen.signed(family.first.sign, about)}"
        indent = "    "
    yield from (f"{indent}{_change(change, screen)}" for change in family.shown)
    if family.more:
        yield f"{indent}… and {len(family.more):,} more"


def _places(values: Sequence[ManifestChange], indent: str, most: int) -> Iterator[str]:
    shown = values[:most] if len(values) > most + 1 else values
    yield from (f"{indent}{place(value)}" for value in shown)
    if len(values) > len(shown):
        yield f"{indent}… and {len(values) - len(shown):,} more values"


def _change(change: Change, screen: Screen) -> str:
    nodes = "" if change.nodes == change.name else _nodes(change.nodes)
    return screen.signed(change.sign, f"{subject(change)}{_sides(change, change.old, change.new)}{nodes}")


def _sides(change: Change, old: str | None, new: str | None) -> str:
    """`: old → new`, or the one that there is."""
    sides = [cut(side, _LONGEST) for side in (old, new) if side or (side is not None and change.key)]
    if change.kind == "file":
        sides = sides[-1:]  # of a file that is another one, how its lines differ
    return f": {' → '.join(sides)}" if sides else ""


def _nodes(nodes: str | None) -> str:
    return f"  ({cut(nodes, _LONGEST)})" if nodes else ""


def place(value: ManifestChange) -> str:
    """`manifest.yaml:54:27 slurm.message_timeout: 20s → 30s`."""
    where = f"{value.place} " if value.place else ""
    old, new = (None if side is None else cut(side, 60) for side in (value.old, value.new))
    if old is None:
        return f"{where}{value.label}: + {new}"
    return f"{where}{value.label}: - {old}" if new is None else f"{where}{value.label}: {old} → {new}"


def _hosts(plan: Plan, screen: Screen) -> Iterator[str]:
    if not (plan.added or plan.removed or plan.groups):
        return
    yield ""
    yield screen.bold("hosts")
    if plan.added:
        yield f"  {screen.signed('+', cut(folded(plan.added), _LONGEST))}"
    if plan.removed:
        yield f"  {screen.signed('-', cut(folded(plan.removed), _LONGEST))}"
    if plan.membership:
        first = next((value for value in plan.membership if value.path[0] == "nodes"), plan.membership[0])
        more = f", and {len(plan.membership) - 1:,} more of these nodes" if plan.membership[1:] else ""
        yield f"      {place(first)}{more}"
    yield from _places(plan.only_behind_hosts, "      ", _CAUSES)
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for group in plan.groups:
        alike.setdefault((group.joined, group.left), []).append(group.name)
    for (joined, left), names in alike.items():
        sides = [f"{sign} {cut(folded(hosts), 60)}" for sign, hosts in (("+", joined), ("-", left)) if hosts]
        yield f"  {', '.join(sides)} in {', '.join(names)}"


def _machine_room(plan: Plan, screen: Screen) -> Iterator[str]:
    if plan.room is None:
        return
    yield ""
    yield screen.bold("machine room")
    for line in room_lines(plan.room, _ROOM, _LONGEST):
        yield f"  {screen.signed(line.sign, line.text) if line.sign else line.text}"
    yield from _places(plan.room_causes, "      ", _CAUSES)
