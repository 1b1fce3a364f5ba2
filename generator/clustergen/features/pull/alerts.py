"""Alerts on nodes that bring themselves to the tree: one has not reached it for long, or never."""

from __future__ import annotations

from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.pull.resolved import GROUP, Pull
from clustergen.render.alerts import Alert, Topic

_RUNS = 4
"""Runs that may fail before an alert; each starts up to half an interval late."""


def topic(cluster: Cluster) -> Topic | None:
    if not cluster.has(Pull) or not cluster.has(NodeExporter):
        return None
    limit = _RUNS * cluster.of(Pull).interval_s * 3 // 2
    stale = Alert(
        "PullStale", f"time() - clustergen_pull_timestamp_seconds > {limit}", "0s", "warning",
        summary="{{ $labels.instance }} was last as in git {{ $value | humanizeDuration }} ago",
        meaning="The repository cannot be reached, a run fails, or a change waits until the node is drained.",
        action="On the node: `journalctl -u clustergen-pull` names the reason; for a drain, run site.yml with --limit.",
    )  # fmt: skip
    never = Alert(
        "PullMissing", f"{_pulling(cluster)} == 1\nunless on (instance)\nclustergen_pull_timestamp_seconds",
        f"{limit}s", "warning",
        summary="{{ $labels.instance }} was never as in git",
        meaning="No run of clustergen-pull has succeeded since the node was installed.",
        action="On the node: `journalctl -u clustergen-pull` names the reason; `systemctl list-timers` shows the next"
        " run.",
    )  # fmt: skip
    return Topic(
        "pull",
        "Nodes that pull: time since they were as in git.",
        (),
        (stale, never),
        look="On the node: `journalctl -u clustergen-pull -n 50` names the reason of the last run that failed.",
        works="the node with its last configuration, and its jobs",
        place=160,
    )


def _pulling(cluster: Cluster) -> str:
    """True if nodes that pull respond: those of its group."""
    pulling = membership(cluster).get(GROUP, ())
    spared = [
        host
        for group in cluster.groups
        if group.roles == ("slurm-compute",) and group not in pulling
        for host in group.hosts
    ]
    servers = f',instance!~"{"|".join(spared)}"' if spared else ""
    return f'up{{job="node",roles="slurm-compute"{servers}}}'
