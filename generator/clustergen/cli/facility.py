"""Compare machine rooms, estimate training runs, and plan what is replaced."""

from __future__ import annotations

from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.arguments import STDIN, manifest_argument, manifest_path
from clustergen.cli.common import format_option, valid
from clustergen.cli.complete import files
from clustergen.cli.exit_codes import exit_codes

FORMATS = ("text", "json", "markdown")


@click.group("facility")
def command() -> None:
    """Compare machine rooms, estimate training runs, list what is due to leave."""


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
@format_option(*FORMATS)
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


@exit_codes(
    "estimated",
    "a run does not fit, or cannot be estimated",
    "a manifest is invalid, or the usage is wrong",
    "a file cannot be read",
)
@command.command("estimate")
@manifest_argument
@click.option(
    "--run", "names", metavar="NAME", multiple=True, help="Runs of facility.estimates.training; default: all."
)
@click.option("--parameters", metavar="COUNT", help="Estimate a model of that size, as 70B, in place of these runs.")
@click.option("--tokens", metavar="COUNT", help="Tokens that it is trained on, as 1.4T.")
@click.option("--gpus", metavar="N,N...", help="Numbers of GPUs to compare; default: all of the node type.")
@click.option(
    "--set",
    "fields",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Another field of the run, as precision=fp8 or parallelism=sharded.",
)
@format_option(*FORMATS)
def estimate(
    manifest: Path,
    names: tuple[str, ...],
    parameters: str | None,
    tokens: str | None,
    gpus: str | None,
    fields: tuple[str, ...],
    form: str,
) -> None:
    """Estimate days, GPU hours, price and bandwidth of training runs.

    The runs are those of facility.estimates.training, or the one of the options. Each number of GPUs is a column. The
    time follows from the operations of a dense transformer, the rate of the GPUs and what joins them; published runs
    took up to 30 % more or less.
    """
    from clustergen.cli.estimate_report import shown
    from clustergen.features.facility.options import runs_of

    stated = {"parameters": parameters, "token_count": tokens, "gpus": gpus}
    compiled = valid(manifest)
    assert compiled.cluster is not None
    try:
        runs = runs_of(compiled.cluster, names, {name: text for name, text in stated.items() if text}, fields)
    except ValueError as err:
        raise click.UsageError(str(err)) from None
    text, is_complete = shown(compiled.cluster, runs, form)
    output.findings(text)
    if not is_complete:
        click.get_current_context().exit(1)


@exit_codes("listed", "devices are due", "a manifest is invalid, or the usage is wrong", "a file cannot be read")
@command.command("refresh")
@manifest_argument
@click.option("--on", "day", metavar="DATE", help="Day for which ages are shown, as 2027-03-31; default: today.")
@format_option(*FORMATS)
def refresh(manifest: Path, day: str | None, form: str) -> None:
    """Show ages and warranties of devices, and which leave first.

    The dates are those of facility.deliveries. A device is due once its years of life have passed.
    """
    from datetime import UTC, date, datetime

    from clustergen.cli.refresh_report import shown
    from clustergen.features.facility.refresh import refresh_plan

    try:
        on = date.fromisoformat(day) if day else datetime.now(UTC).date()
    except ValueError:
        raise click.UsageError(f"--on {day}: write the date as 2027-03-31") from None
    compiled = valid(manifest)
    assert compiled.cluster is not None
    plan = refresh_plan(compiled.cluster)
    if not plan:
        raise click.UsageError("the manifest has no facility.deliveries")
    output.findings(shown(plan, on, form))
    if any(one.leaves and one.leaves <= on for one in plan):
        click.get_current_context().exit(1)
