"""Limits of users and services, as resolved."""

from __future__ import annotations

from clustergen.cluster.host import UserLimits
from clustergen.cluster.model import Cluster
from clustergen.manifest.host import Host


def resolve(section: Host, _: Cluster) -> UserLimits:
    memlock = section.memlock
    return UserLimits(None if memlock == "unlimited" else memlock.value, section.nofile, section.journal_size.value)


RECORDS = {UserLimits: resolve}
