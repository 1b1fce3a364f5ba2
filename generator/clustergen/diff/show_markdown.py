"""Plans as the comment of a pull request: within GitHub's length, long lists folded, nothing read as markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest

from clustergen.diagnostics.redaction import redacted
from clustergen.diagnostics.words import counted, listed
from clustergen.diff.change import Change, folded
from clustergen.diff.families import Family, families
from clustergen.diff.lines import changed_lines
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.markdown import LONGEST_COMMENT, block, code, plain
from clustergen.diff.messages import cut, grouped, reason, subject, title, verdict
from clustergen.diff.plan import Plan
from clustergen.diff.room_lines import room_lines
from clustergen.diff.totals import totals
from clustergen.records import record
from clustergen.render.effects import NONE
from clustergen.slurmconf.scalars import hosts_of

MARK = "<!-- clustergen diff -->"
"""By which a later run finds the comment."""
_ROOM = 500  # for what is said of clusters left out
_LONGEST_COMMAND = 500
_PLACES = 3
_ROOM_LINES = 40  # lines of a kind about the machine room
_FILES = 10  # whose changed lines are shown
_WIDTH = 240  # of a line in it


@record
class Budget:
    """How much of a plan is shown."""

    rows: int
    """Lines for changes that take something, of one plan."""
    more: int
    """Changes of one family that are folded away beneath its line, and values of the manifest at the end."""
    value: int
    """Characters of one value."""
    hosts: int
    """Characters of a folded list of hosts."""
    lines: int
    """Changed lines of one file."""


_BUDGETS = (
    Budget(400, 400, 200, 300, 120),
    Budget(400, 150, 120, 300, 60),
    Budget(200, 60, 80, 200, 30),
    Budget(100, 20, 60, 100, 10),
    Budget(50, 5, 40, 60, 0),
    Budget(10, 0, 40, 60, 0),
    Budget(0, 0, 40, 60, 0),
)


def markdown(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str]) -> str:
    """One comment, never longer than LONGEST_COMMENT: what matters least is left out first, and counted."""
    for budget in _BUDGETS:
        text = _text(plans, added, removed, budget)
        if len(text) <= LONGEST_COMMENT - _ROOM:
            return text
    lines = text[: LONGEST_COMMENT - _ROOM].rpartition("\n")[0]  # hundreds of clusters
    closed = "\n</details>" * (lines.count("<details>") - lines.count("</details>"))
    return f"{lines}{closed}\n\n…and more: `clustergen diff` shows all of it.\n"


def _text(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str], budget: Budget) -> str:
    lines = [MARK]
    for plan in plans:
        lines += _plan(plan, budget)
    lines += [f"**{code(name)}**: new cluster" for name in added]
    lines += [f"**{code(name)}**: cluster removed" for name in removed]
    if not (plans or added or removed):
        lines.append("**No change.**")
    return "\n".join(lines) + "\n"


def _hosts(text: str | None, budget: Budget) -> str:
    """`on n[1-4]`; of many the number, and the first of them."""
    return "on all nodes" if text is None else f"on {_listed(text, budget)}"


def _listed(text: str, budget: Budget) -> str:
    shown = code(text, budget.hosts)
    return shown if len(text) <= budget.hosts else f"{counted(len(hosts_of(text)), 'node')} ({shown})"


def _plan(plan: Plan, budget: Budget) -> Iterator[str]:
    yield f"### {plain(plan.cluster)}: {plain(verdict(plan))}"
    yield ""
    if plan.empty and not plan.manifest_changes:
        return
    yield f"**Plan: {totals(plan)}**"
    yield ""
    sides = ((plan.old, plan.old_commit), (plan.new, plan.new_commit))
    names = [code(name) + (f" ({plain(commit)})" if commit else "") for name, commit in sides]
    yield f"{' → '.join(names)}{plan.releases}"
    harmless = [change for change in plan.changes if change.effect.kind == "none"]
    by_heading = grouped(plan.changes)
    silent = by_heading.pop(title(NONE), [])
    rows = budget.rows
    left_out = 0
    for heading, changes in by_heading.items():
        merged = families(changes)
        shown = merged[:rows]
        rows -= len(shown)
        left_out += sum(len(family.changes) for family in merged[len(shown) :])
        left_out += sum(max(0, len(family.more) - budget.more) for family in shown)
        if shown:
            yield from _section(plan, heading, shown, budget)
    if left_out:
        yield ""
        summary = (
            f"{left_out:,} of {counted(len(plan.changes) - len(harmless), 'change')} with an effect are not shown here:"
        )
        yield f"{summary} `clustergen diff --format json` has all of them."
    if silent:
        yield from _harmless(plan, silent, budget)
    yield from _inventory(plan, budget)
    if plan.room:
        yield from ("", "**Machine room**", "")
        verbs = {"+": "add ", "-": "remove ", "~": ""}
        for line in room_lines(plan.room, max(_PLACES, min(budget.rows, _ROOM_LINES)), budget.value):
            yield f"- {verbs.get(line.sign, '')}{plain(line.text)}"
        yield from _causes(plan.room_causes)
    yield from _other_manifest_changes(plan, budget)
    yield from _jobs(plan, budget)
    if plan.steps:
        yield from ("", "**Steps to apply it**", "")
        for number, step in enumerate(plan.steps, 1):
            by = f" ({plain(cut(step.by, _LONGEST_COMMAND))})" if step.by else ""
            yield f"{number}. {plain(step.text)}" + (f": {_listed(step.hosts, budget)}" if step.hosts else "") + by
        yield from _checks(plan, budget)
    yield from _texts(plan, budget)
    yield ""


def _checks(plan: Plan, budget: Budget) -> Iterator[str]:
    """The state before and after each step of site.yml, folded away."""
    rows = [(number, step) for number, step in enumerate(plan.steps, 1) if step.row]
    if not (rows and budget.more):
        return
    yield from ("", "<details><summary>Check and undo each step</summary>", "")
    yield from (f"- {number}: {plain('; '.join(step.checks))}" for number, step in rows)
    yield from ("", "</details>")


def _jobs(plan: Plan, budget: Budget) -> Iterator[str]:
    """Running jobs that may end early, and pending ones that wait or fail."""
    for name, jobs in (("Running jobs", plan.running), ("Pending jobs", plan.waiting)):
        if not jobs:
            continue
        shown = jobs[: max(budget.more, _PLACES)]
        yield from ("", f"**{name}**", "")
        yield from (f"- {plain(cut(each.text, budget.value))}: {code(each.state)}" for each in shown)
        if len(jobs) > len(shown):
            yield f"- …and {len(jobs) - len(shown):,} more"


def _section(plan: Plan, heading: str, merged: Sequence[Family], budget: Budget) -> Iterator[str]:
    """Changes with the same effects; causes and reasons are printed once for neighbours that share them."""
    yield from ("", f"**{plain(heading)}**", "")
    whys = [(family.causes(plan), reason(family.first), family.first.source) for family in merged]
    for family, why, following in zip_longest(merged, whys, whys[1:]):
        if family.large:
            sides = _sides(family.first, family.old, family.new, budget)
            yield f"- **{code(family.what, budget.value)}**{sides} {_hosts(family.nodes, budget)}"
        indent = "  " if family.large else ""
        yield from (f"{indent}- {_change(change, budget)}" for change in family.shown)
        if family.more:
            yield f"{indent}- …and {len(family.more):,} more" + (", below" if budget.more else "")
        if why == following:
            continue
        causes, because, source = why
        origin = f"cause: {_listed_places(causes)}; " if causes else ""
        yield f"  {origin}{plain(because)}" + (f" ({plain(source)})" if source else "")
    for family in merged:
        if family.more and budget.more:
            yield from _folded_away(f"{len(family.more):,} more", family.more, budget)


def _change(change: Change, budget: Budget) -> str:
    sign = {"+": "new ", "-": "removed "}.get(change.sign, "")
    nodes = f" {_hosts(change.nodes, budget)}" if change.nodes is None or change.nodes != change.name else ""
    return f"{sign}{code(subject(change), budget.value)}{_sides(change, change.old, change.new, budget)}{nodes}"


def _sides(change: Change, old: str | None, new: str | None, budget: Budget) -> str:
    sides = [code(side, budget.value) for side in (old, new) if side or (side is not None and change.key)]
    return f": {' → '.join(sides[-1:] if change.kind == 'file' else sides)}" if sides else ""


def _folded_away(title: str, changes: Sequence[Change], budget: Budget) -> Iterator[str]:
    """Changes a line each, behind a title that opens them."""
    yield from ("", f"<details><summary>{title}</summary>", "")
    yield from (f"- {_change(change, budget)}" for change in changes[: budget.more])
    if len(changes) > budget.more:
        yield f"- …and {len(changes) - budget.more:,} more"
    yield from ("", "</details>")


def _harmless(plan: Plan, changes: Sequence[Change], budget: Budget) -> Iterator[str]:
    """Files of a kind that differ by node type are one line."""
    yield from ("", f"<details><summary>{counted(len(changes), 'change')}, {title(NONE)}</summary>", "")
    merged = families(changes)
    for family in merged[: budget.rows]:
        if family.large:
            yield f"- {code(family.what)} {_hosts(family.nodes, budget)}"
        else:
            yield from (f"- {_change(change, budget)}" for change in family.shown)
    if len(merged) > budget.rows:
        yield f"- …and {sum(len(family.changes) for family in merged[budget.rows :]):,} more"
    yield from _causes(plan.only_behind(changes))
    yield from ("", "</details>")


def _causes(values: Sequence[ManifestChange]) -> Iterator[str]:
    if values:
        yield from ("", f"cause: {_listed_places(values)}")


def _listed_places(values: Sequence[ManifestChange]) -> str:
    return listed(list(map(_place, values)), _PLACES)


def _place(value: ManifestChange) -> str:
    line = f":{value.place.line}" if value.place else ""
    return code(f"{value.label}{line}", 100)


def _inventory(plan: Plan, budget: Budget) -> Iterator[str]:
    lines = []
    for word, hosts in (("join", plan.added), ("leave", plan.removed)):
        if hosts:
            lines.append(
                f"- {counted(len(hosts), 'host')} {word}{'' if hosts[1:] else 's'}: {code(folded(hosts), budget.hosts)}"
            )
    if plan.groups:
        names = ", ".join(group.name for group in plan.groups)
        lines.append(f"- {counted(len(plan.groups), 'group')} with changed members: {code(names, budget.hosts)}")
    if lines:
        yield from ("", "**Hosts**", "")
        yield from lines
        yield from _causes(plan.only_behind_hosts)


def _other_manifest_changes(plan: Plan, budget: Budget) -> Iterator[str]:
    for values, what in plan.other_manifest_changes():
        title = f"{counted(len(values), 'other manifest change')} ({what})"
        yield from ("", f"<details><summary>{title}</summary>", "")
        for value in values[: budget.more]:
            sides = [code(side, 60) for side in (value.old, value.new) if side is not None]
            yield f"- {_place(value)}: {' → '.join(sides)}"
        if len(values) > budget.more:
            yield f"- …and {len(values) - budget.more:,} more"
        yield from ("", "</details>")


def _texts(plan: Plan, budget: Budget) -> Iterator[str]:
    """The changed lines of files that Slurm and jobs read, comments left out, each file behind its name."""
    if not budget.lines:
        return
    for text in plan.texts[:_FILES]:
        lines = changed_lines(*(_printable(file.text) for file in (text.old, text.new)))
        if not lines:
            continue
        masked = [line[:1] + redacted(line[1:]) for line in lines[: budget.lines]]
        shown = [line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in masked]
        if len(lines) > len(shown):
            shown.append(f"… {len(lines) - len(shown):,} more lines")
        yield from ("", f"<details><summary><code>{escape(cut(text.target, 100))}</code>, line by line</summary>", "")
        yield block("\n".join(shown), "diff")
        yield from ("", "</details>")
    if len(plan.texts) > _FILES:
        yield from ("", f"{len(plan.texts) - _FILES:,} more files differ line by line.")


def _printable(text: str) -> list[str]:
    """Lines but for comments, without characters that a reader acts on: controls, changes of the writing direction."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return ["".join(sign if sign.isprintable() or sign == "\t" else "?" for sign in line) for line in lines]
