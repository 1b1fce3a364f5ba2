"""The firewall."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.host import Firewall
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding


def firewall_without_networks(cluster: Cluster) -> Iterator[Finding]:
    """The rules admit the networks of the manifest, and nodes talk to each other by their management addresses."""
    if cluster.of(Firewall).closes and cluster.networks.management.cidr is None:
        yield Finding(
            "firewall-without-networks",
            ("host", "firewall"),
            "nftables would drop Slurm's packets: the management network has no cidr",
            "add networks.management.cidr",
        )
