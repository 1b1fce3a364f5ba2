"""`clustergen verify TREE`: real parsers read a rendered tree."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.arguments import default_tree, tree_path
from clustergen.cli.complete import checks as complete_checks
from clustergen.diagnostics import ClustergenError
from clustergen.verify.rows import FORMATS


@click.command("verify")
@click.argument("trees", type=click.Path(path_type=Path), metavar="[TREE]...", nargs=-1)
@click.option(
    "--only",
    multiple=True,
    metavar="CHECK",
    shell_complete=complete_checks,
    help="Only this check; may be given several times.",
)
@click.option(
    "--slurm-image", metavar="IMAGE", help="A podman or docker image with Slurm, to be asked beside those here."
)
@click.option("--list", "listing", is_flag=True, help="Show the names of the checks, and read nothing.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Show the files of every row and remarks on passes, and log each check; -vv logs every program.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How rows are shown."
)
def command(
    trees: tuple[Path, ...], only: tuple[str, ...], slurm_image: str | None, listing: bool, verbose: int, form: str
) -> None:
    """Check TREE with the programs that will read its files: one row for each, printed as soon as it is done.

    A row says passed, with the version that read the files; failed, with that program's words; not run, and why; or no
    parser, for kinds of files that nobody but the program on a node can read.

    TREE is a rendered tree, or the manifest or directory of a cluster whose tree is in rendered/; by default the one of
    the current directory.

    Programs come from the directory that `clustergen setup parsers` fills, or are those of this machine. A tree whose
    release of Slurm is not among them is read by the next newer one, with a remark. Nothing is changed, started or
    reached outside of a sandbox.

    Exit codes: 0 everything that has a parser passed, 1 something failed, 3 nothing failed but a parser could not be
    asked, or TREE cannot be read.
    """
    from clustergen.verify.checks import CHECKS
    from clustergen.verify.rows import Row, exit_code
    from clustergen.verify.run import verify
    from clustergen.verify.show import render, summary, text, widths_of

    if listing:
        name_width = max(len(check.name) for check in CHECKS)
        parser_width = max(len(check.parser) for check in CHECKS)
        for check in CHECKS:
            click.echo(f"{check.name:{name_width}}  {check.parser:{parser_width}}  {check.what}")
        return
    trees = tuple(tree_path(tree) for tree in trees) or (default_tree(),)
    if form == "json" and len(trees) > 1:
        raise click.UsageError("--format json goes with one tree")
    checks = CHECKS
    if only:
        from clustergen.diagnostics import did_you_mean

        names = [check.name for check in CHECKS]
        as_one_word = {name.replace(" ", "-"): name for name in names}  # as the shell completes them
        only = tuple(as_one_word.get(name, name) for name in only)
        for name in only:
            if name not in names:
                hint = did_you_mean(name, names) or "clustergen verify --list shows them all"
                raise click.UsageError(f"no check is called '{name}': {hint}")
        checks = tuple(check for check in CHECKS if check.name in only)
    if slurm_image is not None:
        from clustergen.verify import sandbox, slurm_roots

        try:
            slurm_roots.from_image(slurm_image)
        except sandbox.SandboxError as error:
            raise ClustergenError(str(error)) from None
    widths, colour = widths_of(checks), output.colour(sys.stdout)

    def show(rows: list[Row]) -> None:
        shown = [row for row in rows if not output.is_quiet() or row.status in ("failed", "not run")]
        output.findings(text(shown, widths, colour=colour, verbose=verbose > 0))

    status = 0
    for tree in trees:
        if form == "text":
            rows = verify(tree, checks, show)
            output.remark(f"{tree}: {summary(rows)}.")
        else:
            rows = verify(tree, checks)
            output.findings(render(tree, rows, form))
        code = exit_code(rows)
        status = code if status == 0 or code == 1 else status
    sys.exit(status)
