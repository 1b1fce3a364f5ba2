"""Compare machines with the manifest that they were set up from."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from clustergen.cli import output
from clustergen.cli.arguments import manifest_argument, refuse_standard_input
from clustergen.cli.common import compiled_from, format_option, refuse
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.diagnostics import printable

FORMATS = ("text", "json", "markdown")


def _kinds(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from clustergen.hardware.drift.kinds import KINDS

    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{name}", help=kind.cause)
        for name, kind in KINDS.items()
        if name.startswith(last)
    ]


@exit_codes("no drift", "drift; also nodes that could not be reached or read", INVALID, "DIR cannot be read")
@click.command("drift")
@manifest_argument
@click.option(
    "--facts",
    type=click.Path(path_type=Path, readable=False),
    metavar="DIR",
    help="Recorded facts: a directory per node, as the playbook clustergen.cluster.drift writes them.",
)
@click.option(
    "--select", multiple=True, metavar="KINDS", shell_complete=_kinds,
    help="Report these kinds or topics only, separated by commas: gpu-missing,slurm.",
)  # fmt: skip
@click.option(
    "--ignore", multiple=True, metavar="KINDS", shell_complete=_kinds, help="Leave these kinds or topics out."
)
@click.option(
    "--metrics", type=click.Path(path_type=Path), metavar="FILE",
    help="Also write the counts for Prometheus, as a text file of the node exporter.",
)  # fmt: skip
@format_option(*FORMATS)
def command(
    manifest: Path,
    facts: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    metrics: Path | None,
    form: str,
) -> None:
    """Compare machines with the manifest that they were set up from.

    Reports missing, replaced and slower hardware, differences within a node type (driver, firmware, kernel), changed
    files and stopped services, and what Slurm reports about its nodes: worst first, equal findings folded to a host
    list, each with its cause and the next step.

    Record the facts in the rendered tree, then compare:

    \b
      ansible-playbook clustergen.cluster.drift -e facts=/tmp/facts
      clustergen drift manifest.yaml --facts /tmp/facts
    """
    from clustergen.cli.drift_metrics import write
    from clustergen.cli.drift_report import show
    from clustergen.hardware.drift.compare import compare

    if facts is None:
        raise click.UsageError(
            "drift compares recorded facts: set --facts DIR. To record them, run in the rendered tree:\n"
            "  ansible-playbook clustergen.cluster.drift -e facts=DIR"
        )
    selected, ignored = _names(select), _names(ignore)
    refuse_standard_input(manifest)
    compiled = compiled_from(manifest)
    if not compiled.ok or compiled.cluster is None:
        refuse(compiled, [one for one in compiled.diagnostics if one.severity == "error"])
    report = compare(compiled.cluster, compiled.source.name, facts).filtered(selected, ignored)
    show(report, form)
    if metrics is not None:
        write(report, metrics)
    for line in report.remarks:
        output.remark(printable(line))
    sys.exit(1 if report.findings else 0)


def _names(values: tuple[str, ...]) -> frozenset[str]:
    """Kinds and topics. Raises UsageError for others."""
    from clustergen.diagnostics import suggest
    from clustergen.diagnostics.selection import words_of
    from clustergen.hardware.drift.kinds import KINDS, TOPICS

    names = frozenset(words_of(values))
    for name in sorted(names - {*KINDS, *TOPICS}):
        similar = suggest(name, (*KINDS, *TOPICS))
        raise click.UsageError(f"no kind of drift {name!r}" + (f": did you mean '{similar}'?" if similar else ""))
    return names
