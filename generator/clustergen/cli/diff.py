"""`clustergen diff OLD NEW`: what a change does to a cluster, before anybody does it."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from clustergen.cli.common import completes_files
from clustergen.diagnostics import Severity, exit_code, render, wants_colour
from clustergen.plan.plan import Plan
from clustergen.plan.plan import plan as make_plan
from clustergen.plan.sides import Argument, Read, Side, pairs, read

FORMATS = ("text", "json", "markdown")


@click.command("diff")
@click.argument("old", metavar="OLD", shell_complete=completes_files)
@click.argument("new", metavar="NEW", shell_complete=completes_files)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Who reads it.")
def command(old: str, new: str, form: str) -> None:
    """Tell what changes from OLD to NEW: what restarts, which nodes drain, which jobs would be lost.

    Each is a manifest, a rendered tree, a cluster's folder, a folder of clusters, or one of these in git as REV:PATH.
    Values are compared by their meaning. Exit code 0: no change; 1: changes; 2: a manifest is invalid.
    """
    plans: list[Plan] = []
    came: list[str] = []
    gone: list[str] = []
    status = 0
    with ExitStack() as stack:
        arguments = [stack.enter_context(Argument(given)) for given in (old, new)]
        for key, before, after in pairs(*arguments):
            if before is None or after is None:
                (came if before is None else gone).append(key)
                continue
            tree = before if before.path.is_dir() else after
            one, other = (_read(side, tree.manifest_name) for side in (before, after))
            status = max(status, *(exit_code(side.diagnostics) for side in (one, other)))
            if one.snapshot is not None and other.snapshot is not None:
                found = make_plan(one.snapshot, other.snapshot)
                if not found.empty or found.written or not key:
                    plans.append(found)
        if status == 0:
            _show(plans, came, gone, form)
            status = 1 if came or gone or not all(plan.empty for plan in plans) else 0
    sys.exit(status)


def _read(side: Side, called: str | None) -> Read:
    """Errors to stderr; warnings are for `validate`."""
    found = read(side, called)
    errors = [item for item in found.diagnostics if item.severity is Severity.ERROR]
    text = render(errors, "text", {side.name: found.text}, colour=wants_colour(sys.stderr))
    click.echo(text, nl=False, err=True, color=wants_colour(sys.stderr) or None)
    return found


def _show(plans: list[Plan], came: list[str], gone: list[str], form: str) -> None:
    if form == "json":
        from clustergen.plan.show_json import as_json

        click.echo(as_json(plans, came, gone), nl=False)
    elif form == "markdown":
        from clustergen.plan.show_markdown import markdown

        click.echo(markdown(plans, came, gone), nl=False)
    else:
        from clustergen.plan.show_text import text

        colour = wants_colour(sys.stdout)
        parts = [text(plan, colour=colour) for plan in plans]
        parts += [f"{name}: a new cluster\n" for name in came]
        parts += [f"{name}: this cluster is gone\n" for name in gone]
        click.echo("\n".join(parts) or "no change\n", nl=False, color=colour or None)
