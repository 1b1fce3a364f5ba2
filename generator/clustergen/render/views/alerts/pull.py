"""An alert on nodes that bring themselves to the tree: one has not reached it for long."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.views.alerts.model import Alert, Topic

TEXTFILE = "clustergen-pull.prom"
_RUNS = 4
"""Runs that may fail before an alert; each starts up to half an interval late."""


def topic(cluster: Cluster) -> Topic | None:
    spec = cluster.manifest.ansible.pull
    if spec is None or not cluster.manifest.monitoring.node_exporter.enabled:
        return None
    limit = _RUNS * spec.interval * 3 // 2
    stale = Alert(
        "PullStale", f"time() - clustergen_pull_timestamp_seconds > {limit}", "0s", "warning",
        "{{ $labels.instance }} was last as in git {{ $value | humanizeDuration }} ago",
        "The repository cannot be reached, a run fails, or a change waits until the node is drained.",
        "On the node: journalctl -u clustergen-pull names the reason; for a drain, run site.yml with --limit.",
    )  # fmt: skip
    return Topic("pull", "Nodes that pull: time since they were as in git.", (), (stale,))
