"""Plans as the comment of a pull request: within GitHub's length, long lists folded, nothing read as markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from clustergen.plan.change import Change, folded
from clustergen.plan.plan import Plan
from clustergen.plan.show_text import cut
from clustergen.plan.words import count, grouped, reason, subject, verdict
from clustergen.plan.written import Written

LIMIT = 65_536
"""Characters that GitHub takes in one comment."""
MARK = "<!-- clustergen diff -->"
"""By which a later run finds the comment."""
_ROOM = 500  # for what is said of rows left out
_SHORT = 60
_ROWS = 400


def markdown(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str]) -> str:
    """One comment, never longer than LIMIT: with too many rows, those that matter least are left out and counted."""
    rows, longest = _ROWS, 200
    while True:
        text = _text(plans, added, removed, rows, longest)
        if len(text) <= LIMIT - _ROOM or rows == 0:
            break
        rows, longest = rows // 2, max(40, longest // 2)
    if len(text) > LIMIT - _ROOM:  # thousands of clusters
        lines = text[: LIMIT - _ROOM].rpartition("\n")[0]
        text = f"{lines}\n\n…and more: `clustergen diff` shows all of it.\n"
    return text


def _text(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str], rows: int, longest: int) -> str:
    lines = [MARK]
    for plan in plans:
        lines += _plan(plan, rows, longest)
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


def _fold(text: str, what: str) -> str:
    """A long list behind a word that opens it."""
    if len(text) <= _SHORT:
        return code(text)
    return f"<details><summary>{what}</summary>{code(text, 4000)}</details>"


def _hosts(text: str | None) -> str:
    if text is None:
        return "all"
    from clustergen.plan.values import hosts_of

    return _fold(text, count(len(hosts_of(text)), "node"))


def _plan(plan: Plan, rows: int, longest: int) -> Iterator[str]:
    yield f"### {plain(plan.cluster)}: {plain(verdict(plan))}"
    yield ""
    if plan.empty and not plan.written:
        return
    release = str(plan.release) if plan.old_release == plan.release else f"{plan.old_release} → {plan.release}"
    yield f"{code(plan.old)} → {code(plan.new)}, Slurm {release}"
    loud = [change for change in plan.changes if change.effect.kind != "none"]
    quiet = [change for change in plan.changes if change.effect.kind == "none"]
    shown = loud[:rows]
    for heading, changes in grouped(shown).items():
        yield ""
        yield f"**{plain(heading)}**"
        yield ""
        yield "| what | old | new | nodes | manifest | why |"
        yield "|---|---|---|---|---|---|"
        for change in changes:
            yield _row(plan, change, longest)
    if len(loud) > len(shown):
        yield ""
        yield f"…and {len(loud) - len(shown)} more changes that take something: `clustergen diff` shows them."
    if quiet:
        yield ""
        yield f"<details><summary>{count(len(quiet), 'file')} with nothing to do</summary>"
        yield ""
        yield from (f"- {code(subject(change))} {_hosts(change.nodes)}" for change in quiet[:rows])
        if len(quiet) > rows:
            yield f"- …and {len(quiet) - rows} more"
        yield ""
        yield "</details>"
    yield from _inventory(plan)
    yield from _silent(plan, rows)
    if plan.steps:
        yield ""
        yield "**What applying it does**"
        yield ""
        for number, step in enumerate(plan.steps, 1):
            by = f" ({plain(step.by)})" if step.by else ""
            yield f"{number}. {plain(step.text)}" + (f": {_hosts(step.hosts)}" if step.hosts else "") + by
    yield ""


def _row(plan: Plan, change: Change, longest: int) -> str:
    values = ["" if side is None else code(side, longest) for side in (change.old, change.new)]
    causes = plan.causes.get(change, ())
    places = "<br>".join(_place(value) for value in causes[:3]) + ("<br>…" if len(causes) > 3 else "")
    why = plain(reason(change)) + (f" ({plain(change.source)})" if change.source else "")
    return (
        f"| {code(subject(change), longest)} | {values[0]} | {values[1]} | {_hosts(change.nodes)} | {places} | {why} |"
    )


def _place(value: Written) -> str:
    line = f":{value.place.line}" if value.place else ""
    return code(f"{value.label}{line}", 100)


def _inventory(plan: Plan) -> Iterator[str]:
    lines = []
    if plan.added:
        lines.append(f"- hosts that join: {_fold(folded(plan.added), count(len(plan.added), 'host'))}")
    if plan.removed:
        lines.append(f"- hosts that leave: {_fold(folded(plan.removed), count(len(plan.removed), 'host'))}")
    if plan.groups:
        names = ", ".join(group.name for group in plan.groups)
        lines.append(f"- groups with other members: {_fold(names, count(len(plan.groups), 'group'))}")
    if lines:
        yield ""
        yield from lines


def _silent(plan: Plan, rows: int) -> Iterator[str]:
    silent = [value for value in plan.written if not any(value in values for values in plan.causes.values())]
    if silent:
        yield ""
        yield f"<details><summary>{count(len(silent), 'value')} of the manifest beside these</summary>"
        yield ""
        for value in silent[:rows]:
            sides = [code(side, 60) if side is not None else "" for side in (value.old, value.new)]
            yield f"- {_place(value)} {sides[0]} → {sides[1]}"
        yield ""
        yield "</details>"
