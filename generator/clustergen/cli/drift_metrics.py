"""Drift as metrics in Prometheus' text format, for the text files of the node exporter."""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.hardware.drift.kinds import KINDS
from clustergen.hardware.drift.model import DriftReport
from clustergen.new_file import NewFile
from clustergen.regular_file import reason_of


def write(report: DriftReport, path: Path) -> None:
    """Replaces the file in one step. Raises ClustergenError where that is not possible."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise ClustergenError(f"{path}: not a regular file")
    try:
        with NewFile(path, "".join(f"{line}\n" for line in _lines(report)).encode("ascii")) as file:
            os.fchmod(file.descriptor, 0o644)
            file.replace()
    except OSError as err:
        raise ClustergenError(f"{path}: {reason_of(err)}") from None


def _lines(report: DriftReport) -> Iterator[str]:
    counts = Counter(dict.fromkeys(KINDS, 0))
    for finding in report.findings:
        counts[finding.kind] += len(finding.nodes)
    yield "# HELP clustergen_drift_findings Differences from the manifest, one for each node and subject."
    yield "# TYPE clustergen_drift_findings gauge"
    for kind, count in counts.items():
        yield f'clustergen_drift_findings{{severity="{KINDS[kind].severity}",kind="{kind}"}} {count}'
    yield "# HELP clustergen_drift_nodes Nodes of the manifest, and those whose facts were compared and differ."
    yield "# TYPE clustergen_drift_nodes gauge"
    for state, number in (("total", report.total), ("compared", report.compared), ("affected", report.affected)):
        yield f'clustergen_drift_nodes{{state="{state}"}} {number}'
    yield "# HELP clustergen_drift_last_run_timestamp_seconds When the comparison ended."
    yield "# TYPE clustergen_drift_last_run_timestamp_seconds gauge"
    yield f"clustergen_drift_last_run_timestamp_seconds {time.time():.0f}"
