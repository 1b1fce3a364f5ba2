"""Render a manifest into an output tree, or check one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli import differences
from clustergen.cli.arguments import STDIN, manifest_arguments
from clustergen.cli.common import assumed_by, format_option, show
from clustergen.cli.differences import Result
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.cli.output import findings, remark
from clustergen.diagnostics import FORMATS, ClustergenError, exit_code, printable
from clustergen.diagnostics.suppressions import apply, not_an_error
from clustergen.render import compare
from clustergen.render.lock_file import raw_with_conflicts
from clustergen.render.write import default_output, write


@exit_codes(
    "rendered; with --check, the tree is up to date",
    "with --check, the tree differs",
    INVALID,
    "MANIFEST cannot be read, or the tree cannot be written",
)
@click.command("render")
@manifest_arguments
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Directory of the tree; default: rendered/ beside the manifest.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if the tree on disk is out of date.")
@format_option(*FORMATS)
def command(manifests: tuple[Path, ...], output: str | None, check: bool, form: str) -> None:
    """Render MANIFEST (default: manifest.yaml) into an output tree; nothing is written if the manifest is invalid.

    A directory with clusters in directories renders all of them. Files in the output directory that clustergen did not
    create are left untouched.
    """
    if STDIN in manifests:
        raise click.UsageError(
            "render cannot read standard input: the tree records the manifest's name, and site/ is beside it"
        )
    if output is not None and len(manifests) > 1:
        raise click.UsageError("-o requires a single manifest")
    if output == "":
        raise click.UsageError("-o is empty: name the directory of the tree, e.g. -o rendered")
    result = Result([], [], [])
    status = 0
    for manifest in manifests:
        directory = default_output(manifest) if output is None else Path(output)
        status = max(status, _render(manifest, directory, check, form, result))
    if form != "text" and (text := differences.document(form, result)):
        findings(text)  # one document, however many manifests there are
    sys.exit(status)


def _render(manifest: Path, directory: Path, check: bool, form: str, result: Result) -> int:
    """The exit code for one manifest. Findings and differences are shown as text, and collected in `result`."""
    output = Path(os.path.realpath(directory))
    if output in Path(os.path.realpath(manifest)).parents:
        raise ClustergenError(
            f"{directory} contains {manifest}: a tree needs a directory of its own", "name another one: -o rendered"
        )
    compiled = compiler.validate(manifest)
    tree, rendering = compiler.render(compiled, manifest) if compiled.ok else (None, ())
    assumed = assumed_by(compiled) if tree is not None else []
    shown, suppressed = apply(
        (*compiled.diagnostics, *assumed, *rendering),
        compiled.source.texts,
        may_suppress=not_an_error,
        is_comment=compiled.source.is_comment,
        report_unused=False,  # validate does, which runs all rules
    )
    result.diagnostics.extend(shown)
    result.suppressed.extend(suppressed)
    merged = raw_with_conflicts(directory) is not None
    changes = write(tree, directory) if tree is not None and not check else []  # even where no finding can be shown
    status = show([compiled], shown, form) if form == "text" else exit_code(shown)
    if tree is None:
        return status
    if check:
        outdated = differences.stale(manifest, directory, tree, compare.differences(tree, directory))
        result.stale.extend(outdated)
        if form == "text":
            findings(differences.text(outdated))
        return 1 if outdated else 0
    if form == "text":
        what = f"{len(changes)} changed" if changes else "nothing changed"
        remark(printable(f"{directory}: {len(tree.files) + 1} files, {what}."))
    for change in changes:
        place = directory / change.path
        if change.kind == "kept":
            click.echo(f"{place}: no longer rendered, but kept because it was edited. Remove it yourself.", err=True)
        elif change.kind == "left-over" and merged:
            click.echo(f"{place}: removed. A side of the merge lists it, and {manifest} does not render it.", err=True)
    return 0
