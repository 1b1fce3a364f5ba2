"""Compare the machine rooms of several manifests: power, cables, bandwidth, cost."""

from __future__ import annotations

from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.arguments import STDIN, manifest_path
from clustergen.cli.common import valid
from clustergen.cli.complete import files
from clustergen.cli.exit_codes import exit_codes

FORMATS = ("text", "json", "markdown")


@click.group("facility")
def command() -> None:
    """Compare the machine rooms of several manifests."""


@exit_codes("compared", "", "a manifest is invalid, or the usage is wrong", "a file cannot be read")
@command.command("compare")
@click.argument("manifests", metavar="MANIFEST MANIFEST...", nargs=-1, required=True, shell_complete=files)
@click.option(
    "--all-reduce",
    "size",
    metavar="SIZE",
    default="16GiB",
    show_default=True,
    help="Size of the all-reduce whose time is estimated.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Output format.")
def compare(manifests: tuple[str, ...], size: str, form: str) -> None:
    """Show what several manifests buy, draw, carry and cost.

    Each MANIFEST is a manifest or a directory with a manifest.yaml. Counts are those of bom.csv without spares; costs
    include spares, and come from facility.prices of each manifest. The time of the all-reduce is a lower bound, by a
    ring over all GPUs of the type that has most of them.
    """
    from clustergen.cli.facility_report import shown
    from clustergen.features.facility.comparison import design
    from clustergen.units import Bytes, UnitError

    try:
        reduced = Bytes.parse(size)
    except UnitError as err:
        raise click.UsageError(f"--all-reduce: {err}") from None
    paths = [manifest_path(Path(name)) for name in manifests]
    if len(paths) < 2:
        raise click.UsageError("name two manifests or more")
    if paths.count(STDIN) > 1:
        raise click.UsageError("standard input can be one manifest only")
    designs = []
    for path in paths:
        compiled = valid(path)
        assert compiled.cluster is not None
        designs.append((str(path), compiled.cluster.name, design(compiled.cluster, reduced)))
    output.findings(shown(designs, reduced, form))
