"""Clocks that nothing outside of the cluster sets."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.chrony.resolved import Chrony

REQUIRES = "slurm"

_COMPARED = ("login", "monitoring", "log-collector")
"""Roles of nodes whose times are compared with those of other machines: sessions, certificates, alerts, logs."""


def time_without_upstream(cluster: Cluster) -> Iterator[Finding]:
    """The controllers' clocks, which all other nodes follow."""
    if not cluster.has(Chrony) or cluster.of(Chrony).ntp:
        return
    if any(group.has(role) for group in cluster.groups for role in _COMPARED):
        servers = ", ".join(cluster.slurm.controllers)
        yield Finding(
            "time-without-upstream",
            ("networks", "management"),
            f"all nodes follow the clock of {servers}, which no time server corrects: logins, certificates, alerts and"
            " logs get wrong times",
            "add ntp: [pool.ntp.org] to networks.management, or host: {chrony: false} if others set the clocks",
            key=True,
        )
