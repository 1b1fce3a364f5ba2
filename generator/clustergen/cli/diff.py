"""Show what a change does to the cluster and its running jobs."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.arguments import default_manifest
from clustergen.cli.common import format_option
from clustergen.cli.complete import files
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.diagnostics import ClustergenError, Severity, exit_code, render
from clustergen.diff import policy
from clustergen.diff.arguments import Argument, Read, pairs, read
from clustergen.diff.git import is_commit
from clustergen.diff.plan import Plan
from clustergen.diff.plan import plan as make_plan
from clustergen.diff.snapshot import Snapshot
from clustergen.manifest import MANIFEST
from clustergen.records import record

FORMATS = ("text", "json", "markdown")
checks_option = click.option(
    "--checks", is_flag=True, help="Also show what holds before and after each step, and the step that takes it back."
)


def require_text(form: str, *, checks: bool) -> None:
    """The other formats have the checks of each step anyway."""
    if checks and form != "text":
        raise click.UsageError(f"--checks is for the format text; {form} has the checks of each step")


@exit_codes("no changes", "changes", INVALID, "a manifest, a tree or git cannot be read")
@click.command("diff")
@click.argument("old", metavar="[OLD]", required=False, shell_complete=files)
@click.argument("new", metavar="[NEW]", required=False, shell_complete=files)
@format_option(*FORMATS)
@checks_option
def command(old: str | None, new: str | None, form: str, checks: bool) -> None:
    """Show what applying NEW in place of OLD does: restarts, drained nodes, jobs that would be lost, cables to change.

    OLD and NEW are a manifest, a rendered tree, a cluster's directory, a directory of clusters, or one of these in git
    as REV:PATH. NEW defaults to ./manifest.yaml, and OLD to the same file in HEAD; a REV alone stands for it in that
    commit; of two sides, for what the other one names there. Values are compared by meaning.
    """
    if new is None:
        manifest = str(default_manifest())
        if old and Path(old).is_file() and Path(old).samefile(manifest):
            raise ClustergenError(
                f"{old} would be compared with itself",
                f"clustergen diff for changes since the last commit, or clustergen diff REV:./{manifest} {manifest}",
                2,
            )
        if old is None or (old and not Path(old).exists() and ":" not in old and is_commit(old)):
            old = f"{old or 'HEAD'}:./{manifest}"
        new = manifest
    elif old:
        old, new = _in_commit(old, new), _in_commit(new, old)
    require_text(form, checks=checks)
    compared = compare(old or "", new)
    if compared.status < 2:
        show(compared, form, checks=checks)
    sys.exit(compared.status)


def _in_commit(word: str, other: str) -> str:
    """A commit alone stands for what the other side names, or for the manifest here, in that commit."""
    if not word or Path(word).exists() or ":" in word or not is_commit(word):
        return word
    path = other if Path(other).exists() else MANIFEST
    if not Path(path).exists() or Path(path).is_absolute():
        return word
    inside = "" if path == "." else path.removeprefix("./")
    return f"{word}:./{inside}"


@record
class Compared:
    """Two sides, cluster by cluster. `status`: the exit code that this asks for."""

    plans: tuple[Plan, ...]
    added: tuple[str, ...]
    """Clusters that only the new side has."""
    removed: tuple[str, ...]
    status: int
    slurm: tuple[tuple[dict[str, str], dict[str, str], str], ...] = ()
    """Of each plan: Slurm's files of a controller on both sides, by name below /etc/slurm, those of accounts by path,
    and all addresses.
    """

    @property
    def document(self) -> str:
        """All of it as JSON."""
        from clustergen.diff.show_json import as_json

        return as_json(self.plans, self.added, self.removed)

    def text(self, *, colour: bool = False, checks: bool = False) -> str:
        from clustergen.diff.show_text import text

        parts = [text(plan, colour=colour, checks=checks) for plan in self.plans]
        parts += [f"{name}: a new cluster\n" for name in self.added]
        parts += [f"{name}: this cluster is removed\n" for name in self.removed]
        return "\n".join(parts) or "no change\n"


def compare(old: str, new: str) -> Compared:
    """The plans of all clusters of both arguments. Errors of their manifests go to stderr."""
    plans: list[Plan] = []
    slurm: list[tuple[dict[str, str], dict[str, str], str]] = []
    added: list[str] = []
    removed: list[str] = []
    status = 0
    with ExitStack() as stack:
        arguments = [stack.enter_context(Argument(argument)) for argument in (old, new)]
        for key, before, after in pairs(*arguments):
            if before is None or after is None:
                (added if before is None else removed).append(key)
                continue
            tree = before if before.path.is_dir() else after
            one, other = (read(side, tree.manifest_name) for side in (before, after))
            for result in (one, other):
                _complain(result)
            status = max(status, *(exit_code(side.diagnostics) for side in (one, other)))
            if one.snapshot is not None and other.snapshot is not None:
                plan_of_cluster = make_plan(one.snapshot, other.snapshot)
                if not plan_of_cluster.empty or plan_of_cluster.manifest_changes or not key:
                    plans.append(plan_of_cluster)
                    addresses = {**other.snapshot.inventory.addresses, **one.snapshot.inventory.addresses}
                    hosts = "".join(f"{address} {host}\n" for host, address in addresses.items())
                    slurm.append((_slurm(one.snapshot), _slurm(other.snapshot), hosts))
    if status == 0 and (added or removed or not all(plan.empty for plan in plans)):
        status = 1
    return Compared(tuple(plans), tuple(added), tuple(removed), status, tuple(slurm))


def _slurm(side: Snapshot) -> dict[str, str]:
    controller = next(iter(side.inventory.groups.get("slurm_controller", ())), "")
    files = side.of_groups(side.inventory.hosts.get(controller, ()))
    return {
        target.removeprefix("/etc/slurm/"): file.text
        for target, file in files.items()
        if target.startswith("/etc/slurm/") or target in (policy.VALUES, policy.PROGRAM)
    }


def _complain(result: Read) -> None:
    """Errors to stderr; warnings are for `validate`."""
    errors = [item for item in result.diagnostics if item.severity is Severity.ERROR]
    colour = output.colour(sys.stderr)
    text = render(errors, "text", result.texts, colour=colour)
    click.echo(text, nl=False, err=True, color=colour)


def show(compared: Compared, form: str, *, checks: bool = False) -> None:
    if form == "json":
        output.findings(compared.document)
    elif form == "markdown":
        from clustergen.diff.show_markdown import markdown

        output.findings(markdown(compared.plans, compared.added, compared.removed))
    else:
        output.findings(compared.text(colour=output.colour(sys.stdout), checks=checks))
