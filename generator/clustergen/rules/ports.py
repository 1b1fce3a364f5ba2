"""Two daemons of one node cannot listen on one port."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon
from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding


def port_twice(cluster: Cluster) -> Iterator[Finding]:
    members = membership(cluster)
    seen: list[tuple[Daemon, tuple[NodeGroup, ...]]] = []
    for daemon in cluster.needs(Daemon):
        if daemon.ports:
            continue
        groups = members.get(daemon.group, ()) if daemon.members is None else daemon.members
        for other, others in seen:
            shared = [group for group in groups if group in others] if daemon.port == other.port else []
            if shared:
                where = shared[0].folded
                yield Finding(
                    "port-twice",
                    daemon.port_at or other.port_at or ("nodes", shared[0].index),
                    f"{other.name} and {daemon.name} would both listen on port {daemon.port} of {where}",
                )
        seen.append((daemon, groups))
