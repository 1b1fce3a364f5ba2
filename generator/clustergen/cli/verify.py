"""Check a rendered tree with the daemons and parsers that read it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.arguments import default_tree, tree_path
from clustergen.cli.common import format_option
from clustergen.cli.complete import check_list
from clustergen.cli.exit_codes import USAGE, exit_codes
from clustergen.diagnostics import ClustergenError
from clustergen.verify.rows import FORMATS


@exit_codes(
    "every check that has a parser passed",
    "a check failed",
    USAGE,
    "no check failed, but a parser could not run, or TREE cannot be read",
)
@click.command("verify")
@click.argument("trees", type=click.Path(path_type=Path), metavar="[TREE]...", nargs=-1)
@click.option(
    "--only",
    multiple=True,
    metavar="NAMES",
    shell_complete=check_list,
    help="Run only these checks, or those of a component, separated by commas: slurm,promtool. The components: "
    "acceptance, ansible, containers, facility, fabric, host, login, monitoring, scripts, slurm, storage, systemd.",
)
@click.option("--slurm-image", metavar="IMAGE", help="Run the Slurm of this podman or docker image as well.")
@click.option("--list", "listing", is_flag=True, help="List the checks and exit.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Show the files of every row and remarks on passes, and log each check; -vv logs every program.",
)
@format_option(*FORMATS)
def command(
    trees: tuple[Path, ...], only: tuple[str, ...], slurm_image: str | None, listing: bool, verbose: int, form: str
) -> None:
    """Check TREE with the programs that will read its files: one row per program, printed as it finishes.

    The rows: passed, with the version that read the files; failed, with the program's messages; not run, with the
    reason; no parser, for files that only the program on a node can read.

    TREE is a rendered tree, or a manifest or directory with its tree in rendered/; default: the current directory.

    verify uses the programs that `clustergen setup parsers` installs, else those of this machine. If the tree's Slurm
    release is not installed, the next newer one reads it, and the row shows it. Each program runs in a sandbox.
    """
    from clustergen.cli.durations import timed
    from clustergen.verify.checks import CHECKS, chosen
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
    if absent := next((tree for tree in trees if not tree.exists()), None):
        raise ClustergenError(f"{absent}: no such file or directory", "name a rendered tree, or its manifest")
    if form == "json" and len(trees) > 1:
        raise click.UsageError("--format json requires a single tree")
    try:
        checks = chosen(only) if only else CHECKS
    except ValueError as err:
        raise click.UsageError(str(err)) from None
    if slurm_image is not None:
        from clustergen.verify import sandbox, slurm_roots

        try:
            slurm_roots.from_image(slurm_image)
        except sandbox.SandboxError as error:
            raise ClustergenError(str(error)) from None
    widths, colour = widths_of(checks), output.colour(sys.stdout)

    def show(rows: list[Row]) -> None:
        shown = [row for row in rows if not output.is_quiet() or row.status in ("failed", "not run")]
        findings = text(
            shown, widths, colour=colour, verbose=verbose > 0, width=output.width(), folds_words=sys.stdout.isatty()
        )
        output.findings(findings)

    status = 0
    for tree in trees:
        if form == "text":
            with timed(f"verify {tree.resolve()} {' '.join(only)}".rstrip()) as estimate:
                if estimate:
                    output.remark(f"{tree}: checking{estimate}")
                rows = verify(tree, checks, show)
            output.verdict(f"{tree}: {summary(rows)}.")
        else:
            rows = verify(tree, checks)
            output.findings(render(tree, rows, form))
        code = exit_code(rows)
        status = code if status == 0 or code == 1 else status
    sys.exit(status)
