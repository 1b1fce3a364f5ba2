"""A plan for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.plan.change import Change, folded
from clustergen.plan.plan import Plan
from clustergen.plan.words import grouped, reason, subject, verdict
from clustergen.plan.written import Written

_LONGEST = 100
_BOLD, _PLAIN = "\033[1m", "\033[0m"


def text(plan: Plan, *, colour: bool = False) -> str:
    """All of it, the verdict first."""
    return "".join(f"{line}\n" for line in _lines(plan, colour))


def cut(value: str, longest: int = _LONGEST) -> str:
    value = " ".join(value.split())
    return value if len(value) <= longest else value[: longest - 1] + "…"


def _lines(plan: Plan, colour: bool) -> Iterator[str]:
    bold, plain = (_BOLD, _PLAIN) if colour else ("", "")
    yield f"{bold}{plan.cluster}: {verdict(plan)}{plain}"
    if plan.empty and not plan.written:
        return
    release = str(plan.release)
    if plan.old_release != plan.release:
        release = f"{plan.old_release} → {release}"
    yield f"{plan.old} → {plan.new}, Slurm {release}"
    quiet: list[Change] = []
    for heading, changes in grouped(plan.changes).items():
        if changes[0].effect.kind == "none":
            quiet = changes
            continue
        yield ""
        yield f"{bold}{heading}{plain}"
        for index, change in enumerate(changes):
            yield f"  {_change(change)}"
            if index + 1 < len(changes) and _why(plan, changes[index + 1]) == _why(plan, change):
                continue  # one word for all of them
            yield from (f"      {place(value)}" for value in plan.causes.get(change, ()))
            yield f"      {reason(change)}" + (f" [{change.source}]" if change.source else "")
    if quiet:
        yield ""
        yield f"{bold}nothing to do for{plain}"
        for change in quiet:
            yield f"  {_change(change)}" + (f": {change.reason}" if change.reason else "")
    yield from _hosts(plan, bold, plain)
    silent = [value for value in plan.written if not any(value in values for values in plan.causes.values())]
    if silent:
        yield ""
        title = "changed in the manifest" if len(silent) == len(plan.written) else "also changed in the manifest"
        yield f"{bold}{title}{plain}"
        yield from (f"  {place(value)}" for value in silent)
    if plan.steps:
        yield ""
        yield f"{bold}what applying it does{plain}"
        for number, step in enumerate(plan.steps, 1):
            by = f" ({step.by})" if step.by else ""
            yield f"  {number}. {step.text}" + (f": {cut(step.hosts)}" if step.hosts else "") + by


def _why(plan: Plan, change: Change) -> tuple[object, ...]:
    return plan.causes.get(change), reason(change), change.source


def _change(change: Change) -> str:
    words = subject(change)
    if change.kind == "file" and change.old is None and change.new is None:
        return words + _nodes(change)
    if change.kind == "file":
        words += f": new, {change.new}" if change.old is None else f": {change.new or 'goes'}"
    elif change.old is None:
        words += f": + {cut(change.new or '')}"
    elif change.new is None:
        words += f": - {cut(change.old)}"
    else:
        words += f": {cut(change.old)} → {cut(change.new)}"
    return words + _nodes(change)


def _nodes(change: Change) -> str:
    return f"  ({cut(change.nodes)})" if change.nodes and change.nodes != change.name else ""


def place(value: Written) -> str:
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
        yield f"  + {cut(folded(plan.added))}"
    if plan.removed:
        yield f"  - {cut(folded(plan.removed))}"
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for group in plan.groups:
        alike.setdefault((group.joined, group.left), []).append(group.name)
    for (joined, left), names in alike.items():
        sides = [f"{sign} {cut(folded(hosts), 60)}" for sign, hosts in (("+", joined), ("-", left)) if hosts]
        yield f"  {', '.join(sides)} in {', '.join(names)}"
