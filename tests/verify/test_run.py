"""Checks run side by side, and their rows are reported one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from clustergen.verify.checks import CHECKS, Check, Trial
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row
from clustergen.verify.run import verify
from strategies.pages import ROOT

TREE = ROOT / "inventories" / "ml-training" / "rendered"


def test_rows_are_reported_before_slower_checks_are_done() -> None:
    reported = Event()

    def after_a_report(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        yield check.row("passed" if reported.wait(60) else "failed", entries)

    by_name = {check.name: check for check in CHECKS}
    checks = (by_name["tree"], replace(by_name["dcgm counters"], ask=after_a_report))
    batches: list[list[Row]] = []

    def report(rows: list[Row]) -> None:
        batches.append(rows)
        reported.set()

    rows = verify(Path(TREE), checks, report)
    assert [(row.check, row.status) for row in rows] == [("tree", "passed"), ("dcgm counters", "passed")]
    assert [[row.check for row in batch] for batch in batches] == [["tree"], ["dcgm counters"]]
