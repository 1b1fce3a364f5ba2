"""Check manifests and report all errors and warnings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from clustergen.cli import output
from clustergen.cli.arguments import manifest_arguments
from clustergen.cli.common import assumed_by, compiled_from, format_option, show
from clustergen.cli.exit_codes import FILTERED, UNREADABLE, exit_codes
from clustergen.cli.filters import Filters, filter_options, statistics
from clustergen.compile import Compiled
from clustergen.diagnostics import FORMATS, Diagnostic, exit_code
from clustergen.diagnostics.suppressions import Suppressed, apply, not_an_error
from clustergen.diagnostics.words import counted

_INVALID = 2


@exit_codes(
    f"MANIFEST is valid, with or without warnings{FILTERED}",
    "",
    "errors, or the usage is wrong",
    UNREADABLE,
)
@click.command("validate")
@manifest_arguments
@format_option(*FORMATS)
@filter_options
def command(manifests: tuple[Path, ...], form: str, **filtering: Any) -> None:
    """Check MANIFEST and report all errors and warnings, in file order.

    MANIFEST is a file, a directory with a manifest.yaml or with clusters in directories, or - for standard input;
    default: ./manifest.yaml.
    Errors are always reported: filters, comments and baselines suppress only warnings and infos.
    """
    filters = Filters.of(form, **filtering)
    compiled = [compiled_from(manifest) for manifest in manifests]
    kept: list[Diagnostic] = []
    suppressed: list[Suppressed] = []
    for one in compiled:
        reported, muted = _without_suppressed(one)
        kept += reported
        suppressed += muted
    kept = list(dict.fromkeys(kept))  # of a file that several manifests extend
    judged = filters.judge(kept, suppressed, not_an_error)
    if filters.statistics:
        output.findings(statistics(judged.reported))
        status = exit_code(judged.reported)
    else:
        status = show(compiled, judged.reported, form, judged.suppressed)
    if form == "text":
        for one in compiled:
            if one.ok and one.cluster is not None:
                size = f"{counted(one.cluster.host_count, 'node')}, {counted(one.cluster.gpu_count, 'GPU')}"
                output.verdict(f"{one.source.name}: {one.cluster.name} is valid: {size}.")
        for line in judged.remarks():
            output.remark(line)
    sys.exit(0 if filters.exit_zero and status == _INVALID else status)


def _without_suppressed(compiled: Compiled) -> tuple[list[Diagnostic], list[Suppressed]]:
    return apply(
        [*compiled.diagnostics, *assumed_by(compiled)],
        compiled.source.texts,
        may_suppress=not_an_error,
        is_comment=compiled.source.is_comment,
        report_unused=compiled.ok,
    )
