"""List the features, and those that other packages add."""

from __future__ import annotations

import sys
from textwrap import fill

import click

from clustergen.cli import output
from clustergen.cli.exit_codes import exit_codes
from clustergen.diagnostics.document import json_document


@exit_codes("listed", "", "", "an extension cannot be used")
@click.command("features")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(form: str) -> None:
    """List all features: what clustergen configures beside nodes, networks and Slurm itself.

    Each one is a package with all of its topic: sections of the manifest, checks, files, alerts. Other packages can
    add features, which are called extensions; they are listed with their name and version. --no-extensions leaves them
    out, here and in every other command.
    """
    from clustergen import __version__
    from clustergen.feature import features

    rows = [
        {
            "name": feature.name,
            "from": feature.distribution or "clustergen",
            "version": feature.version or __version__,
            "summary": feature.summary,
            "stages": list(feature.stages),
        }
        for feature in features()
    ]
    if form == "json":
        click.echo(json_document({"features": rows}), nl=False)
        return
    width = max(len(feature.name) for feature in features())
    for row, feature in zip(rows, features(), strict=True):
        origin = f" ({row['from']} {row['version']})" if feature.distribution else ""
        line = f"{feature.name:<{width}}  {feature.summary}{origin}"
        click.echo(fill(line, output.width(), subsequent_indent=" " * (width + 2)) if sys.stdout.isatty() else line)
