"""Alerts on drift: what the timer finds, and that it still runs."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.drift.resolved import Drift, hosting
from clustergen.render.alerts import Alert, Topic

_RUNS = 3
"""Runs that may be missing before an alert."""


def topic(cluster: Cluster, drift: Drift, _: NodeExporter) -> Topic | None:
    if not hosting(cluster):
        return None
    seconds = drift.interval_s * _RUNS
    place = "controller" if cluster.has(Slurm) else "monitoring node"
    look = f"On the {place}: `journalctl -u clustergen-drift` shows the report with the next step for each difference."
    last_run = "clustergen_drift_last_run_timestamp_seconds"
    alerts = (
        Alert(
            "DriftErrors", 'max by (kind) (clustergen_drift_findings{severity="error"}) > 0', "0s", "critical",
            summary="Drift: {{ $value }} x {{ $labels.kind }}",
            meaning="Machines differ from the manifest in a way that stops jobs or keeps nodes out of use.",
            action=look,
        ),
        Alert(
            "DriftWarnings", 'max by (kind) (clustergen_drift_findings{severity="warning"}) > 0', "0s", "warning",
            summary="Drift: {{ $value }} x {{ $labels.kind }}",
            meaning="Machines differ from the manifest or from others of their type.",
            action=look,
        ),
        Alert(
            "DriftNotCompared", f"time() - max({last_run}) > {seconds}", "0s", "warning",
            summary="Drift was last compared {{ $value | humanizeDuration }} ago",
            meaning="The timer does not run, or the facts of the nodes cannot be recorded.",
            action=f"On the {place}: `systemctl status clustergen-drift.timer clustergen-drift`.",
        ),
        Alert(
            "DriftNeverCompared", f"absent({last_run})", f"{seconds}s", "warning",
            summary="Drift has never been compared",
            meaning=f"No {place} has the manifest and its tree in the directory of drift.directory, or its timer"
            " fails.",
            action=f"On the {place}: `systemctl status clustergen-drift.timer clustergen-drift`.",
        ),
    )  # fmt: skip
    return Topic(
        "drift",
        "Drift: machines against the manifest.",
        (),
        alerts,
        look=f"On the {place}: `journalctl -u clustergen-drift -n 50` shows the last report.",
        page="overview",
        works="the cluster as it is: nothing is changed without a person",
        place=150,
    )
