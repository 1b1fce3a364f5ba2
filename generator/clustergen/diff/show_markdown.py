"""Plans as the comment of a pull request: within GitHub's length, long lists folded, nothing read as markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from clustergen.diff.change import Change, folded
from clustergen.diff.families import Family, families
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.messages import count, cut, grouped, reason, subject, verdict
from clustergen.diff.plan import Plan
from clustergen.diff.values import hosts_of
from clustergen.records import record

LIMIT = 65_536
"""Characters that GitHub takes in one comment."""
MARK = "<!-- clustergen diff -->"
"""By which a later run finds the comment."""
_ROOM = 500  # for what is said of clusters left out
_SHORT = 60
_LONGEST_COMMAND = 500
_PLACES = 3


@record
class Room:
    """How much of a plan is shown."""

    rows: int
    """Of the tables, for all changes of one plan."""
    more: int
    """Changes of one family that are folded away beneath its table, and values of the manifest at the end."""
    value: int
    """Characters of one value."""
    hosts: int = 4000
    """Characters of a folded list of hosts."""


_ROOMS = (
    Room(400, 400, 200),
    Room(400, 150, 120),
    Room(200, 60, 80, 1000),
    Room(100, 20, 60, 300),
    Room(50, 5, 40, 100),
    Room(10, 0, 40, 60),
    Room(0, 0, 40, 60),
)


def markdown(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str]) -> str:
    """One comment, never longer than LIMIT: what matters least is left out first, and counted."""
    for room in _ROOMS:
        text = _text(plans, added, removed, room)
        if len(text) <= LIMIT - _ROOM:
            return text
    lines = text[: LIMIT - _ROOM].rpartition("\n")[0]  # hundreds of clusters
    closed = "\n</details>" * (lines.count("<details>") - lines.count("</details>"))
    return f"{lines}{closed}\n\n…and more: `clustergen diff` shows all of it.\n"


def _text(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str], room: Room) -> str:
    lines = [MARK]
    for plan in plans:
        lines += _plan(plan, room)
    lines += [f"**{code(name)}**: a new cluster" for name in added]
    lines += [f"**{code(name)}**: this cluster is gone" for name in removed]
    if not (plans or added or removed):
        lines.append("**No change.**")
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text that stays text: markup and HTML lose their meaning, nobody is mentioned, nothing is linked."""
    out = escape(" ".join(text.split()), quote=False)
    for sign in "\\`*_[]|~":
        out = out.replace(sign, f"&#{ord(sign)};")
    # GitHub looks for mentions and references behind the entities; only a gap stops it.
    return re.sub(r"@|(?<!&)#|(?<=:)(?=//)", r"\g<0><!-- -->", out)


def code(text: str, longest: int = 200) -> str:
    """Text in a fixed font, also within a table; GitHub looks for nothing in it."""
    shown = escape(cut(text, longest), quote=False)
    for sign in "\\`*_{}[]|~@":
        shown = shown.replace(sign, f"&#{ord(sign)};")
    return f"<code>{shown}</code>"


def _fold(text: str, what: str, room: Room) -> str:
    """A long list behind a word that opens it."""
    if len(text) <= _SHORT:
        return code(text)
    return f"<details><summary>{what}</summary>{code(text, room.hosts)}</details>"


def _hosts(text: str | None, room: Room) -> str:
    return "all" if text is None else _fold(text, count(len(hosts_of(text)), "node"), room)


def _plan(plan: Plan, room: Room) -> Iterator[str]:
    yield f"### {plain(plan.cluster)}: {plain(verdict(plan))}"
    yield ""
    if plan.empty and not plan.manifest_changes:
        return
    release = str(plan.release) if plan.old_release == plan.release else f"{plan.old_release} → {plan.release}"
    yield f"{code(plan.old)} → {code(plan.new)}, Slurm {release}"
    disruptive = [change for change in plan.changes if change.effect.kind != "none"]
    harmless = [change for change in plan.changes if change.effect.kind == "none"]
    rows = room.rows
    left_out = 0
    for heading, changes in grouped(disruptive).items():
        merged = families(changes)
        shown = merged[:rows]
        rows -= len(shown)
        left_out += sum(len(family.changes) for family in merged[len(shown) :])
        left_out += sum(max(0, len(family.more) - room.more) for family in shown)
        if shown:
            yield from _table(plan, heading, shown, room)
    if left_out:
        yield ""
        summary = f"{left_out:,} of {count(len(disruptive), 'change')} that take something are not shown here:"
        yield f"{summary} `clustergen diff --format json` has all of them."
    if harmless:
        yield from _harmless(plan, harmless, room)
    yield from _inventory(plan, room)
    yield from _silent(plan, room)
    yield from _waiting(plan, room)
    if plan.steps:
        yield ""
        yield "**What applying it does**"
        yield ""
        for number, step in enumerate(plan.steps, 1):
            by = f" ({plain(cut(step.by, _LONGEST_COMMAND))})" if step.by else ""
            yield f"{number}. {plain(step.text)}" + (f": {_hosts(step.hosts, room)}" if step.hosts else "") + by
    yield ""


def _waiting(plan: Plan, room: Room) -> Iterator[str]:
    """Pending jobs that wait or fail."""
    if not plan.waiting:
        return
    shown = plan.waiting[: max(room.more, _PLACES)]
    yield from ("", "**Pending jobs**", "")
    yield from (f"- {plain(cut(pending.text, room.value))}: {code(pending.reason)}" for pending in shown)
    if len(plan.waiting) > len(shown):
        yield f"- …and {len(plan.waiting) - len(shown):,} more"


def _table(plan: Plan, heading: str, rows: Sequence[Family], room: Room) -> Iterator[str]:
    yield from ("", f"**{plain(heading)}**", "")
    yield "| what | old | new | nodes | manifest | why |"
    yield "|---|---|---|---|---|---|"
    for family in rows:
        why = plain(reason(family.first)) + (f" ({plain(family.first.source)})" if family.first.source else "")
        if family.large:
            cells = _cells(family.old, family.new, family.nodes, family.causes(plan), room)
            yield f"| **{code(family.what, room.value)}** | {cells} | {why} |"
        for change in family.shown:
            cells = _cells(change.old, change.new, change.nodes, plan.causes.get(change, ()), room)
            yield f"| {code(subject(change), room.value)} | {cells} | {'as above' if family.large else why} |"
    for family in rows:
        if family.more and room.more:
            yield from _folded_away(f"the other {len(family.more):,} of {code(family.what)}", family.more, room)


def _cells(old: str | None, new: str | None, nodes: str | None, causes: Sequence[ManifestChange], room: Room) -> str:
    sides = ["" if side is None else code(side, room.value) for side in (old, new)]
    more = f"<br>…and {len(causes) - _PLACES:,} more" if len(causes) > _PLACES else ""
    places = "<br>".join(_place(value) for value in causes[:_PLACES]) + more
    return f"{sides[0]} | {sides[1]} | {_hosts(nodes, room)} | {places}"


def _folded_away(title: str, changes: Sequence[Change], room: Room) -> Iterator[str]:
    """Changes a line each, behind a title that opens them."""
    yield from ("", f"<details><summary>{title}</summary>", "")
    for change in changes[: room.more]:
        sides = [code(side, room.value) for side in (change.old, change.new) if side is not None]
        values = f": {' → '.join(sides)}" if sides and change.kind != "file" else ""
        nodes = f" {_hosts(change.nodes, room)}" if change.nodes is None or change.nodes != change.name else ""
        yield f"- {code(subject(change), room.value)}{values}{nodes}"
    if len(changes) > room.more:
        yield f"- …and {len(changes) - room.more:,} more"
    yield from ("", "</details>")


def _harmless(plan: Plan, changes: Sequence[Change], room: Room) -> Iterator[str]:
    """Files of a kind that differ by node type are one line."""
    yield from ("", f"<details><summary>{count(len(changes), 'change')} with nothing to do</summary>", "")
    merged = families(changes)
    for family in merged[: room.rows]:
        if family.large:
            yield f"- {code(family.what)} {_hosts(family.nodes, room)}"
        else:
            yield from (f"- {code(subject(change))} {_hosts(change.nodes, room)}" for change in family.shown)
    if len(merged) > room.rows:
        yield f"- …and {len(merged) - room.rows:,} more"
    if behind := plan.only_behind(changes)[:_PLACES]:
        yield from ("", f"of {', '.join(map(_place, behind))}")
    yield from ("", "</details>")


def _place(value: ManifestChange) -> str:
    line = f":{value.place.line}" if value.place else ""
    return code(f"{value.label}{line}", 100)


def _inventory(plan: Plan, room: Room) -> Iterator[str]:
    lines = []
    if plan.added:
        lines.append(f"- hosts that join: {_fold(folded(plan.added), count(len(plan.added), 'host'), room)}")
    if plan.removed:
        lines.append(f"- hosts that leave: {_fold(folded(plan.removed), count(len(plan.removed), 'host'), room)}")
    if plan.groups:
        names = ", ".join(group.name for group in plan.groups)
        lines.append(f"- groups with other members: {_fold(names, count(len(plan.groups), 'group'), room)}")
    if lines:
        yield ""
        yield from lines


def _silent(plan: Plan, room: Room) -> Iterator[str]:
    silent = plan.silent
    if not silent:
        return
    yield from ("", f"<details><summary>{count(len(silent), 'value')} of the manifest beside these</summary>", "")
    for value in silent[: room.more]:
        sides = [code(side, 60) if side is not None else "" for side in (value.old, value.new)]
        yield f"- {_place(value)} {sides[0]} → {sides[1]}"
    if len(silent) > room.more:
        yield f"- …and {len(silent) - room.more:,} more"
    yield from ("", "</details>")
