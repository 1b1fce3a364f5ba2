"""Apply a manifest or a saved plan to the nodes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen.apply import playbook, saved
from clustergen.apply.summary import summary
from clustergen.cli import output
from clustergen.cli.arguments import default_manifest, manifest_path, refuse_standard_input
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.cli.plan import FOR_ANSIBLE, ForAnsible, ask, require
from clustergen.diagnostics import ClustergenError

_NOT_APPLIED, _FAILED = 1, 3  # exit codes


@exit_codes(
    "applied, or nothing to do",
    "not confirmed, or the plan is out of date; with --check, changes",
    INVALID,
    "a file cannot be read, or a node failed",
)
@click.command("apply", cls=ForAnsible)
@click.argument(
    "plan_or_manifest",
    type=click.Path(path_type=Path, readable=False),
    required=False,
    metavar="[PLAN|MANIFEST]",
)
@click.option("-y", "--yes", is_flag=True, help="Apply without asking for confirmation.")
@click.option("--limit", metavar="HOSTS", help="Apply to these hosts only, as ansible-playbook --limit.")
@click.option("--check", "only_check", is_flag=True, help="Show what would change on the nodes, and change nothing.")
@click.pass_context
def command(ctx: click.Context, plan_or_manifest: Path | None, yes: bool, limit: str | None, only_check: bool) -> None:
    """Apply a manifest (default: manifest.yaml) or a saved plan to the nodes with ansible-playbook.

    Renders the tree beside the manifest if it is out of date, shows what changes on the nodes, asks for
    confirmation, and runs site.yml. A plan saved by `clustergen plan --out` is refused if the manifest,
    its tree or, if the plan queried them, the nodes have changed since. Options after -- go to ansible-playbook.
    """
    place = plan_or_manifest or default_manifest()
    refuse_standard_input(place)
    if limit is not None and not limit.strip(" ,:"):
        raise click.UsageError("--limit names no hosts")
    plan = saved.read(place)
    options = (*(("--limit", limit) if limit is not None else ()), *ctx.meta[FOR_ANSIBLE])
    if plan is not None and plan.nodes is not None:
        if options:
            raise click.UsageError("a plan that queried the nodes is applied with the options that it was saved with")
        options = plan.arguments
    manifest = manifest_path(place) if plan is None else plan.manifest
    if not (yes or only_check or sys.stdin.isatty() or not manifest.exists()):
        raise ClustergenError("there is no terminal to confirm at", "--yes applies without asking", exit_code=2)
    planned = require(manifest)
    if plan is not None:
        plan.require_same(planned)
    kept = planned.kept_digest()
    if not yes or only_check or (plan is not None and plan.nodes is not None):
        check = ask(planned, options)
        if plan is not None:
            plan.require_same_nodes(check)
        click.echo(f"\n{summary(check)}")
        if only_check:
            sys.exit(_FAILED if check.failed else 1 if check.changed else 0)
        if not check.changed:
            sys.exit(_FAILED if check.failed else 0)
        if not yes and not click.confirm(f"Apply to the nodes of {planned.name}?"):
            output.remark("not applied")
            sys.exit(_NOT_APPLIED)
        if planned.kept_digest() != kept:
            message = f"files beside the rendered ones in {planned.directory} have changed since the nodes were queried"
            raise ClustergenError(message, "run it again", _NOT_APPLIED)
    planned.require_addresses(is_limited=bool(options))
    changed = planned.write()
    output.remark(f"{planned.directory}: {changed or 'no'} file{'' if changed == 1 else 's'} changed")
    status = playbook.run(planned.directory, options)
    if status:
        raise ClustergenError(
            f"ansible-playbook ended with status {status}; its output is above",
            None if status in playbook.NOTHING_RAN else "run it again to carry on",
            _FAILED,
        )
