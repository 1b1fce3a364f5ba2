"""The firewall, as resolved."""

from __future__ import annotations

from clustergen.cluster.host import Firewall
from clustergen.cluster.model import Cluster
from clustergen.manifest.host import Host


def resolve(section: Host, _: Cluster) -> Firewall:
    return Firewall(bool(section.firewall), section.firewall == "nftables")


RECORDS = {Firewall: resolve}
