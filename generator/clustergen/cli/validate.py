"""`clustergen validate MANIFEST`: all diagnostics of a manifest."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli.common import assumed_by, format_option, manifest_argument, show
from clustergen.diagnostics import in_file_order, render


@click.command("validate")
@manifest_argument
@format_option
def command(manifest: Path, form: str) -> None:
    """Check MANIFEST and show everything that is wrong with it, in file order.

    Unconfirmed hardware and missing packages of Slurm are shown beside the verdict on a valid manifest.
    """
    compiled = compiler.validate(manifest)
    assumed = assumed_by(compiled)
    if form != "text":
        sys.exit(show(compiled, in_file_order([*compiled.diagnostics, *assumed]), form))
    status = show(compiled, compiled.diagnostics, form)
    if not status and compiled.cluster is not None:
        cluster = compiled.cluster
        click.echo(render(assumed, "text", {compiled.source.name: compiled.source.text}), nl=False)
        click.echo(f"{manifest}: {cluster.name} is valid: {cluster.host_count} nodes, {cluster.gpu_count} GPUs.")
    sys.exit(status)
