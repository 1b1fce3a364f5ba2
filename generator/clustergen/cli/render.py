"""`clustergen render MANIFEST`: the tree of files, written or compared."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli.common import format_option, show
from clustergen.render.write import Difference, differences, write

_SHOWN = 20


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
    sys.exit(max(_render(manifest, output or manifest.parent / "rendered", check, form) for manifest in manifests))


def _render(manifest: Path, folder: Path, check: bool, form: str) -> int:
    compiled = compiler.validate(manifest)
    if not compiled.ok:
        return show(compiled, compiled.diagnostics, form)
    tree, found = compiler.render(compiled, manifest)
    status = show(compiled, [*compiled.diagnostics, *found], form)
    if tree is None:
        return status
    if check:
        changes = differences(tree, folder)
        _tell(folder, changes)
        return 1 if changes else 0
    changes = write(tree, folder)
    if form == "text":
        what = f"{len(changes)} changed" if changes else "nothing changed"
        click.echo(f"{folder}: {len(tree.files) + 1} files, {what}.", err=True)
    return 0


def _tell(folder: Path, changes: list[Difference]) -> None:
    for change in changes[:_SHOWN]:
        click.echo(f"{folder / change.path}: {change.kind}")
    if len(changes) > _SHOWN:
        click.echo(f"… and {len(changes) - _SHOWN} more")
