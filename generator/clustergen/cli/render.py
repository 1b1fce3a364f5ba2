"""`clustergen render MANIFEST`: the tree of files, written or compared."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli import differences
from clustergen.cli.common import format_option, manifest_arguments, show
from clustergen.cli.differences import Stale
from clustergen.diagnostics import ClustergenError, Diagnostic, exit_code
from clustergen.render.write import differences as on_disk
from clustergen.render.write import write


@click.command("render")
@manifest_arguments
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Folder of the tree; default: rendered/ beside the manifest.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail if the tree on disk is not what would be written.")
@format_option
def command(manifests: tuple[Path, ...], output: str | None, check: bool, form: str) -> None:
    """Write the tree that MANIFEST means: all of it, or nothing where the manifest is invalid.

    Files in the output folder that clustergen did not write are left alone.
    """
    if output is not None and len(manifests) > 1:
        raise click.UsageError("-o goes with one manifest")
    if output == "":
        raise click.UsageError("-o is empty: it names the folder of the tree, as -o rendered")
    told: list[Diagnostic] = []
    stale: list[Stale] = []
    status = 0
    for manifest in manifests:
        folder = manifest.parent / "rendered" if output is None else Path(output)
        status = max(status, _render(manifest, folder, check, form, told, stale))
    if form != "text" and (text := differences.document(form, told, stale)):
        click.echo(text, nl=False)  # one document, however many manifests there are
    sys.exit(status)


def _render(manifest: Path, folder: Path, check: bool, form: str, told: list[Diagnostic], stale: list[Stale]) -> int:
    """The exit code for one manifest. What was found is shown as text, and collected in `told` and `stale`."""
    place = folder.resolve()
    if place in manifest.resolve().parents:
        raise ClustergenError(
            f"{folder} holds {manifest}: a tree takes the place of its whole folder",
            "name one of its own: -o rendered",
        )
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
    within = _stands_in(place)
    written = write(tree, folder)
    if form == "text":
        what = f"{len(written)} changed" if written else "nothing changed"
        click.echo(f"{folder}: {len(tree.files) + 1} files, {what}.", err=True)
        if written and within:
            click.echo('The folder that you stand in was exchanged: cd "$PWD" goes to the new one.', err=True)
    return 0


def _stands_in(folder: Path) -> bool:
    """Whether the shell stands in the folder or below: it would go on to see the old one, which is empty then."""
    try:
        return Path.cwd().is_relative_to(folder)
    except FileNotFoundError:  # exchanged by an earlier render
        return False
