"""A plan for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from clustergen.diff.change import Change, folded
from clustergen.diff.families import Family, families
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.messages import count, cut, grouped, reason, subject, verdict
from clustergen.diff.plan import Plan

_LONGEST = 100
_LONGEST_COMMAND = 2000
_CAUSES, _SILENT = 3, 10  # values of the manifest that are named
_WAITING, _LONGEST_WAITING = 10, 240  # kinds of pending jobs that are named, and how much of each
_BOLD, _PLAIN = "\033[1m", "\033[0m"


def text(plan: Plan, *, colour: bool = False) -> str:
    """The verdict first; of changes that are alike only the first few, as of all that may be hundreds."""
    return "".join(f"{line}\n" for line in _lines(plan, colour))


def _lines(plan: Plan, colour: bool) -> Iterator[str]:
    bold, plain = (_BOLD, _PLAIN) if colour else ("", "")
    yield f"{bold}{plan.cluster}: {verdict(plan)}{plain}"
    if plan.empty and not plan.manifest_changes:
        return
    release = str(plan.release)
    if plan.old_release != plan.release:
        release = f"{plan.old_release} → {release}"
    yield f"{plan.old} → {plan.new}, Slurm {release}"
    harmless: list[Family] = []
    left_out = 0
    for heading, changes in grouped(plan.changes).items():
        merged = families(changes)
        left_out += sum(len(family.more) for family in merged)
        if changes[0].effect.kind == "none":
            harmless = merged
            continue
        yield ""
        yield f"{bold}{heading}{plain}"
        yield from _changes(plan, merged)
    if harmless:
        yield ""
        yield f"{bold}nothing to do for{plain}"
        for family in harmless:
            why = f": {family.first.reason}" if family.first.reason else ""
            yield from (line if line.startswith("    ") else f"{line}{why}" for line in _family(family))
        yield from _places(
            plan.only_behind([change for family in harmless for change in family.changes]), "      ", _CAUSES
        )
    yield from _hosts(plan, bold, plain)
    silent = plan.silent
    if silent:
        yield ""
        title = (
            "changed in the manifest" if len(silent) == len(plan.manifest_changes) else "also changed in the manifest"
        )
        yield f"{bold}{title}{plain}"
        yield from _places(silent, "  ", _SILENT)
    if waiting := plan.waiting:
        yield ""
        yield f"{bold}pending jobs{plain}"
        yield from (f"  {cut(pending.text, _LONGEST_WAITING)}: {pending.reason}" for pending in waiting[:_WAITING])
        if len(waiting) > _WAITING:
            yield f"  … and {len(waiting) - _WAITING:,} more"
    if plan.steps:
        yield ""
        yield f"{bold}what applying it does{plain}"
        for number, step in enumerate(plan.steps, 1):
            by = f" ({cut(step.by, _LONGEST_COMMAND)})" if step.by else ""
            yield f"  {number}. {step.text}" + (f": {cut(step.hosts, _LONGEST)}" if step.hosts else "") + by
    if left_out:
        yield ""
        yield f"{left_out:,} of {count(len(plan.changes), 'change')} are not shown here: --format json has all of them"


def _changes(plan: Plan, merged: Sequence[Family]) -> Iterator[str]:
    """What takes the same; reasons stand once for neighbours that have them in common."""
    whys = [(family.causes(plan), reason(family.first), family.first.source) for family in merged]
    for family, why, following in zip_longest(merged, whys, whys[1:]):
        yield from _family(family)
        if why == following:
            continue
        causes, because, source = why
        yield from _places(causes, "      ", _CAUSES)
        yield f"      {because}" + (f" [{source}]" if source else "")


def _family(family: Family) -> Iterator[str]:
    indent = "  "
    if family.large:
        yield f"  {family.what}{_sides(family.first, family.old, family.new)}{_nodes(family.nodes)}"
        indent = "    "
    yield from (f"{indent}{_change(change)}" for change in family.shown)
    if family.more:
        yield f"{indent}… and {len(family.more):,} more"


def _places(values: Sequence[ManifestChange], indent: str, most: int) -> Iterator[str]:
    shown = values[:most] if len(values) > most + 1 else values
    yield from (f"{indent}{place(value)}" for value in shown)
    if len(values) > len(shown):
        yield f"{indent}… and {len(values) - len(shown):,} more values"


def _change(change: Change) -> str:
    nodes = "" if change.nodes == change.name else _nodes(change.nodes)
    return f"{subject(change)}{_sides(change, change.old, change.new)}{nodes}"


def _sides(change: Change, old: str | None, new: str | None) -> str:
    if old is None and new is None:
        return ""
    if change.kind == "file":
        return f": new, {new}" if old is None else f": {new or 'goes'}"
    if old is None:
        return f": + {cut(new or '', _LONGEST)}"
    return f": - {cut(old, _LONGEST)}" if new is None else f": {cut(old, _LONGEST)} → {cut(new, _LONGEST)}"


def _nodes(nodes: str | None) -> str:
    return f"  ({cut(nodes, _LONGEST)})" if nodes else ""


def place(value: ManifestChange) -> str:
    """`manifest.yaml:54:27 slurm.message_timeout: 20s → 30s`."""
    where = f"{value.place} " if value.place else ""
    old, new = (None if side is None else cut(side, 60) for side in (value.old, value.new))
    if old is None:
        return f"{where}{value.label}: + {new}"
    return f"{where}{value.label}: - {old}" if new is None else f"{where}{value.label}: {old} → {new}"


def _hosts(plan: Plan, bold: str, plain: str) -> Iterator[str]:
    if not (plan.added or plan.removed or plan.groups):
        return
    yield ""
    yield f"{bold}hosts{plain}"
    if plan.added:
        yield f"  + {cut(folded(plan.added), _LONGEST)}"
    if plan.removed:
        yield f"  - {cut(folded(plan.removed), _LONGEST)}"
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for group in plan.groups:
        alike.setdefault((group.joined, group.left), []).append(group.name)
    for (joined, left), names in alike.items():
        sides = [f"{sign} {cut(folded(hosts), 60)}" for sign, hosts in (("+", joined), ("-", left)) if hosts]
        yield f"  {', '.join(sides)} in {', '.join(names)}"
