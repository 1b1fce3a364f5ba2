"""Which findings `validate` and `lint` report, and how they end: --select, --ignore, --baseline and their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import click

from clustergen.cli import output
from clustergen.cli.complete import code_list
from clustergen.cli.writing import write_own
from clustergen.diagnostics import CODES, Diagnostic, Severity, baseline, in_file_order, printable
from clustergen.diagnostics.selection import Selection, codes_in
from clustergen.diagnostics.suppressions import Suppressed
from clustergen.records import record


@record
class Judged:
    """Findings after all filters."""

    reported: tuple[Diagnostic, ...]
    suppressed: tuple[Suppressed, ...] = ()
    stale: int = 0
    """Findings of the baseline that are gone."""

    def remarks(self) -> list[str]:
        """Remarks on findings that were not reported, with the reasons."""
        by_kind = Counter(one.kind for one in self.suppressed)
        parts = [
            f"{number} by {'comments' if kind == 'comment' else 'the baseline'}" for kind, number in by_kind.items()
        ]
        lines = [f"suppressed: {', '.join(parts)}."] if parts else []
        return lines + ([f"gone since the baseline: {self.stale}; --write-baseline updates it."] if self.stale else [])


@record
class Filters:
    """The values of the options of `filter_options`."""

    selection: Selection
    baseline_file: Path | None
    write_baseline: bool
    exit_zero: bool
    statistics: bool

    @classmethod
    def of(
        cls,
        form: str,
        *,
        select: tuple[str, ...],
        ignore: tuple[str, ...],
        baseline: Path | None,
        write_baseline: bool,
        exit_zero: bool,
        statistics: bool,
    ) -> Filters:
        """Raises UsageError for a code that no diagnostic has, and for options that do not go together."""
        if statistics and form != "text":
            raise click.UsageError("--statistics requires --format text; --format json has counts")
        if write_baseline and baseline is None:
            raise click.UsageError("--write-baseline requires --baseline FILE, the file to write")
        try:
            selection = Selection(codes_in(select), codes_in(ignore))
        except ValueError as err:
            raise click.UsageError(str(err)) from None
        return cls(selection, baseline, write_baseline, exit_zero, statistics)

    def judge(
        self,
        kept: Sequence[Diagnostic],
        suppressed: Sequence[Suppressed],
        may_suppress: Callable[[Diagnostic], bool],
    ) -> Judged:
        """Which of the findings that comments `kept` are reported: also those that may not be suppressed.

        Writes the baseline, where that is wanted.
        """
        reports = self.selection.reports
        reported = in_file_order(one for one in kept if reports(one.code) or not may_suppress(one))
        suppressed = [one for one in suppressed if reports(one.diagnostic.code)]
        if self.baseline_file is None:
            return Judged(tuple(reported), tuple(suppressed))
        if self.write_baseline:
            listed = [one for one in reported if may_suppress(one)]
            content = baseline.text(listed, self.baseline_file).encode()
            write_own(self.baseline_file, content, baseline.replaced_mode)
            output.remark(printable(f"{self.baseline_file}: {len(listed)} findings written."))
        reported, more, stale = baseline.apply(reported, self.baseline_file, may_suppress)
        return Judged(tuple(reported), (*suppressed, *more), stale if self.selection == Selection() else 0)


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options; `Filters.of` takes their parameters."""
    for option in reversed(
        [
            click.option(
                "--select", multiple=True, metavar="CODES", shell_complete=code_list,
                help="Report these codes only, separated by commas; gres stands for all of gres-*.",
            ),
            click.option(
                "--ignore", multiple=True, metavar="CODES", shell_complete=code_list,
                help="Do not report these codes; of two matches, the longer one decides.",
            ),
            click.option(
                "--baseline", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                help="Do not report findings that this file lists.",
            ),
            click.option("--write-baseline", is_flag=True, help="Write the current findings to --baseline FILE."),
            click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
            click.option("--statistics", is_flag=True, help="Count the findings of each code instead of showing them."),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def statistics(diagnostics: Collection[Diagnostic]) -> str:
    """A line for each code: how often, how bad, which, and its title; the most frequent first."""
    counts = Counter((one.severity, one.code) for one in diagnostics)
    order = list(Severity)
    rows = sorted(counts.items(), key=lambda item: (-item[1], order.index(item[0][0]), item[0][1]))
    return "".join(f"{number:>6}  {severity:7}  {code:28}  {CODES[code].title}\n" for (severity, code), number in rows)
