"""Limits of logins and services: RDMA pins memory, and IPC objects must outlive the login that made them."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record


@record
class Limits:
    memlock_kib: str  # pam_limits' words: KiB or unlimited
    memlock_bytes: str  # systemd's words: bytes or infinity
    nofile: int


def limits(cluster: Cluster) -> Limits:
    host = cluster.manifest.host
    if host.memlock == "unlimited":
        return Limits("unlimited", "infinity", host.nofile)
    return Limits(str(host.memlock.value // 1024), str(host.memlock.value), host.nofile)
