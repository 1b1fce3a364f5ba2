"""`clustergen validate MANIFEST`: all diagnostics of a manifest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from clustergen import compile as compiler
from clustergen.cli import output
from clustergen.cli.common import assumed_by, format_option, manifest_argument, show
from clustergen.cli.filters import Filters, filter_options, statistics
from clustergen.diagnostics import exit_code
from clustergen.diagnostics.suppressions import not_an_error

_INVALID = 2


@click.command("validate")
@manifest_argument
@format_option
@filter_options
def command(manifest: Path, form: str, **filtering: Any) -> None:
    """Check MANIFEST and show everything that is wrong with it, in file order.

    Unconfirmed hardware and missing packages of Slurm are warnings of a valid manifest. Errors are always reported:
    filters, comments and baselines leave out warnings and infos only.

    Exit codes: 0 valid, 2 invalid, 3 MANIFEST cannot be read.
    """
    filters = Filters.of(form, **filtering)
    compiled = compiler.validate(manifest)
    judged = filters.judge(
        [*compiled.diagnostics, *assumed_by(compiled)],
        {compiled.source.name: compiled.source.text},
        not_an_error,
        report_unused=compiled.ok,
        is_comment=compiled.source.is_comment,
    )
    if filters.statistics:
        output.findings(statistics(judged.reported))
        status = exit_code(judged.reported)
    else:
        status = show(compiled, judged.reported, form, judged.suppressed)
    if form == "text":
        if not status and compiled.cluster is not None:
            cluster = compiled.cluster
            output.verdict(
                f"{manifest}: {cluster.name} is valid: {cluster.host_count} nodes, {cluster.gpu_count} GPUs."
            )
        for line in judged.remarks():
            output.remark(line)
    sys.exit(0 if filters.exit_zero and status == _INVALID else status)
