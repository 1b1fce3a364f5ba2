"""Limits of logins and services: RDMA pins memory, and IPC objects must outlive the login that made them."""

from __future__ import annotations

from clustergen.cluster.features.host import UserLimits
from clustergen.cluster.model import Cluster
from clustergen.records import record


@record
class Limits:
    memlock_kib: str  # pam_limits' words: KiB or unlimited
    memlock_bytes: str  # systemd's words: bytes or infinity
    nofile: int


def limits(cluster: Cluster) -> Limits:
    limit = cluster.of(UserLimits)
    if limit.memlock_bytes is None:
        return Limits("unlimited", "infinity", limit.nofile)
    return Limits(str(limit.memlock_bytes // 1024), str(limit.memlock_bytes), limit.nofile)
