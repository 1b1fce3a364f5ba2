"""`clustergen render MANIFEST`: the tree of files, written or compared."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli import differences
from clustergen.cli.common import format_option, show
from clustergen.cli.differences import Stale
from clustergen.diagnostics import Diagnostic, exit_code
from clustergen.render.write import differences as on_disk
from clustergen.render.write import write


@click.command("render")
@click.argument("manifests", type=click.Path(path_type=Path), metavar="MANIFEST...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of the tree; default: rendered/ beside the manifest.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail if the tree on disk is not what would be written.")
@format_option
def command(manifests: tuple[Path, ...], output: Path | None, check: bool, form: str) -> None:
    """Write the tree that MANIFEST means: all of it, or nothing where the manifest is invalid.

    Files in the output folder that clustergen did not write are left alone.
    """
    if output is not None and len(manifests) > 1:
        raise click.UsageError("-o goes with one manifest")
    told: list[Diagnostic] = []
    stale: list[Stale] = []
    status = 0
    for manifest in manifests:
        status = max(status, _render(manifest, output or manifest.parent / "rendered", check, form, told, stale))
    if form != "text" and (text := differences.document(form, told, stale)):
        click.echo(text, nl=False)  # one document, however many manifests there are
    sys.exit(status)


def _render(manifest: Path, folder: Path, check: bool, form: str, told: list[Diagnostic], stale: list[Stale]) -> int:
    """The exit code for one manifest. What was found is shown as text, and collected in `told` and `stale`."""
    compiled = compiler.validate(manifest)
    tree, found = compiler.render(compiled, manifest) if compiled.ok else (None, ())
    found = (*compiled.diagnostics, *found)
    told += found
    status = show(compiled, found, form) if form == "text" else exit_code(found)
    if tree is None:
        return status
    if check:
        changes = differences.stale(manifest, folder, tree, on_disk(tree, folder))
        stale += changes
        if form == "text":
            click.echo(differences.text(changes), nl=False)
        return 1 if changes else 0
    written = write(tree, folder)
    if form == "text":
        what = f"{len(written)} changed" if written else "nothing changed"
        click.echo(f"{folder}: {len(tree.files) + 1} files, {what}.", err=True)
    return 0
