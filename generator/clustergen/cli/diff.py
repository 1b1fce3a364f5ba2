"""`clustergen diff OLD NEW`: what a change does to a cluster, before anybody does it."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from clustergen.cli.common import completes_files
from clustergen.diagnostics import Severity, exit_code, render, wants_colour
from clustergen.diff.arguments import Argument, Read, Side, pairs, read
from clustergen.diff.plan import Plan
from clustergen.diff.plan import plan as make_plan

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
    removed: list[str] = []
    status = 0
    with ExitStack() as stack:
        arguments = [stack.enter_context(Argument(argument)) for argument in (old, new)]
        for key, before, after in pairs(*arguments):
            if before is None or after is None:
                (came if before is None else removed).append(key)
                continue
            tree = before if before.path.is_dir() else after
            one, other = (_read(side, tree.manifest_name) for side in (before, after))
            status = max(status, *(exit_code(side.diagnostics) for side in (one, other)))
            if one.snapshot is not None and other.snapshot is not None:
                plan_of_cluster = make_plan(one.snapshot, other.snapshot)
                if not plan_of_cluster.empty or plan_of_cluster.manifest_changes or not key:
                    plans.append(plan_of_cluster)
        if status == 0:
            _show(plans, came, removed, form)
            status = 1 if came or removed or not all(plan.empty for plan in plans) else 0
    sys.exit(status)


def _read(side: Side, called: str | None) -> Read:
    """Errors to stderr; warnings are for `validate`."""
    result = read(side, called)
    errors = [item for item in result.diagnostics if item.severity is Severity.ERROR]
    text = render(errors, "text", {side.name: result.text}, colour=wants_colour(sys.stderr))
    click.echo(text, nl=False, err=True, color=wants_colour(sys.stderr) or None)
    return result


def _show(plans: list[Plan], added: list[str], removed: list[str], form: str) -> None:
    if form == "json":
        from clustergen.diff.show_json import as_json

        click.echo(as_json(plans, added, removed), nl=False)
    elif form == "markdown":
        from clustergen.diff.show_markdown import markdown

        click.echo(markdown(plans, added, removed), nl=False)
    else:
        from clustergen.diff.show_text import text

        colour = wants_colour(sys.stdout)
        parts = [text(plan, colour=colour) for plan in plans]
        parts += [f"{name}: a new cluster\n" for name in added]
        parts += [f"{name}: this cluster is gone\n" for name in removed]
        click.echo("\n".join(parts) or "no change\n", nl=False, color=colour or None)
