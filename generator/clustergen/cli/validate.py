"""`clustergen validate MANIFEST`: all diagnostics of a manifest."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli.common import format_option, manifest_argument, show


@click.command("validate")
@manifest_argument
@format_option
def command(manifest: Path, form: str) -> None:
    """Check MANIFEST and show everything that is wrong with it, in file order."""
    compiled = compiler.validate(manifest)
    status = show(compiled, compiled.diagnostics, form)
    if form == "text" and not status and compiled.cluster is not None:
        cluster = compiled.cluster
        click.echo(f"{manifest}: {cluster.name} is valid: {cluster.host_count} nodes, {cluster.gpu_count} GPUs.")
    sys.exit(status)
