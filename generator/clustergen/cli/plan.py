"""Show what applying a manifest would change, against git or the nodes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from clustergen.apply import playbook, saved
from clustergen.apply.playbook import Check
from clustergen.apply.summary import summary
from clustergen.apply.target import Target, target
from clustergen.cli import diff, output
from clustergen.cli.arguments import manifest_argument, refuse_standard_input
from clustergen.cli.common import format_option, refuse
from clustergen.cli.complete import files
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.cli.writing import write_own
from clustergen.diagnostics import ClustergenError

NODES = "nodes"
FOR_ANSIBLE = "clustergen.ansible"
_FAILED = 3  # exit code: not all nodes could be asked


class ForAnsible(click.Command):
    """A verb whose options after `--` are ansible-playbook's; it finds them in the context, under `FOR_ANSIBLE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[FOR_ANSIBLE] = tuple(args[end + 1 :])
        if any(not hosts.strip(" ,:") for hosts in _limits(ctx.meta[FOR_ANSIBLE])):
            raise click.UsageError("--limit names no hosts", ctx)
        return super().parse_args(ctx, args[:end])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ANSIBLE OPTIONS]"]


def _limits(arguments: Sequence[str]) -> Iterator[str]:
    """The hosts of every --limit among options of ansible-playbook, which takes an empty one for all hosts."""
    following = [*arguments[1:], ""]
    for argument, value in zip(arguments, following, strict=False):
        name, equals, text = argument.partition("=")
        if len(name) > 2 and "--limit".startswith(name):
            yield text if equals else value
        elif argument.startswith("-l"):
            yield argument.removeprefix("-l").removeprefix("=") or value


@exit_codes("no changes", "changes", INVALID, "a file cannot be read, or a node failed")
@click.command("plan", cls=ForAnsible)
@manifest_argument
@click.option(
    "--against",
    metavar="REV|TREE|nodes",
    default="HEAD",
    show_default=True,
    shell_complete=files,
    help="What to compare with: a git revision of the manifest, a tree or manifest, or the nodes.",
)
@format_option(*diff.FORMATS)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save the plan in this file, for `clustergen apply FILE`.",
)
@diff.checks_option
@click.option(
    "--trial",
    is_flag=True,
    help="Also carry out the steps that drain, restart, reconfigure and resume Slurm, on its daemons in a sandbox.",
)
@click.pass_context
def command(
    ctx: click.Context, manifest: Path, against: str, form: str, out: Path | None, checks: bool, trial: bool
) -> None:
    """Show what applying MANIFEST (default: manifest.yaml) would change. Nothing is changed.

    Against a git revision or a tree, the effects on running jobs are shown. `--against nodes` runs site.yml in check
    mode and shows which nodes differ from the manifest (drift); options after -- go to ansible-playbook.
    """
    refuse_standard_input(manifest)
    arguments: tuple[str, ...] = ctx.meta[FOR_ANSIBLE]
    if arguments and against != NODES:
        raise click.UsageError("options for ansible-playbook go with --against nodes")
    if form == "markdown" and against == NODES:
        raise click.UsageError("--against nodes has the formats text and json")
    if trial and (against == NODES or form != "text"):
        raise click.UsageError("--trial compares with a revision or a tree, and has the format text")
    if out is not None:
        saved.require_savable(out, manifest, arguments)
    if checks and against == NODES:
        raise click.UsageError("--checks compares with a revision or a tree")
    diff.require_text(form, checks=checks)
    planned = require(manifest)
    kept = planned.kept_digest()
    if against == NODES:
        check = ask(planned, arguments, data=form == "json")
        if form == "json":
            output.findings(saved.document(planned, against, kept, check=check, arguments=arguments).decode())
            output.remark(summary(check))
        else:
            click.echo(f"\n{summary(check)}")
        status = _FAILED if check.failed else 1 if check.changed else 0
        changes: Any = None
    else:
        compared = _compared(against, manifest)
        if compared.status > 1:
            sys.exit(compared.status)
        diff.show(compared, form, checks=checks)
        check, status = None, compared.status
        if trial and not _tried(compared):
            status = _FAILED
        changes = json.loads(compared.document)
    if out is not None:
        content = saved.document(planned, against, kept, changes=changes, check=check, arguments=arguments)
        write_own(out, content, saved.require_own, mode=0o600)  # it quotes what changes
        output.remark(f"{out}: saved. Next: clustergen apply {out}")
    sys.exit(status)


def require(manifest: Path) -> Target:
    """The manifest with its tree; ends the command with its diagnostics where it is invalid."""
    rendered, compiled, diagnostics = target(manifest)
    if rendered is None:
        refuse(compiled, diagnostics)
    return rendered


def ask(planned: Target, arguments: tuple[str, ...], *, data: bool = False) -> Check:
    """Runs the playbook in check mode, on a copy of a tree that is not up to date.

    Its output goes to stderr where stdout is for data.
    """
    planned.require_addresses(is_limited=bool(arguments))
    colour = output.colour(sys.stderr if data else sys.stdout)

    def echo(line: str) -> None:
        click.echo(line, color=colour, err=data)

    with planned.checkable() as tree:
        return playbook.check(tree, arguments, echo, colour=colour)


def _compared(against: str, manifest: Path) -> diff.Compared:
    try:
        return diff.compare(_old_side(against, manifest), str(manifest))
    except ClustergenError as err:
        hint = f"`clustergen plan {manifest} --against nodes` compares with the nodes, --against DIRECTORY with a tree"
        raise ClustergenError(err.message, f"{err.hint}\n   {hint}" if err.hint else hint, err.exit_code) from None


def _tried(compared: diff.Compared) -> bool:
    """True if no job was lost in the trial of any cluster."""
    from clustergen.cli.trial import tried

    results = [tried(plan, *files) for plan, files in zip(compared.plans, compared.slurm, strict=True)]
    for text, _ in results:
        click.echo(f"\n{text}", nl=False)
    return all(good for _, good in results)


def _old_side(against: str, manifest: Path) -> str:
    """The old side in the form of `clustergen diff`: a path as it is, a revision with the manifest's path."""
    if os.path.exists(against) or ":" in against:  # noqa: PTH110 - a text that may be anything
        return against
    return f"{against}:./{os.path.relpath(manifest)}"
