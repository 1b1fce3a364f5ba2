"""Limits of logins and services: RDMA pins memory, and IPC objects must outlive the login that made them."""

from __future__ import annotations

from clustergen.cluster.host import UserLimits
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import File


@record
class Limits:
    memlock_kib: str  # pam_limits' words: KiB or unlimited
    memlock_bytes: str  # systemd's words: bytes or infinity
    nofile: int
    journal_bytes: int


def limits(cluster: Cluster) -> Limits:
    limit = cluster.of(UserLimits)
    if limit.memlock_bytes is None:
        return Limits("unlimited", "infinity", limit.nofile, limit.journal_bytes)
    return Limits(str(limit.memlock_bytes // 1024), str(limit.memlock_bytes), limit.nofile, limit.journal_bytes)


FILES = (
    File("all/etc/security/limits.d/50-clustergen.conf", limits),
    File("all/etc/systemd/system.conf.d/50-clustergen.conf", limits, DAEMON_RELOAD),
    File("all/etc/systemd/logind.conf.d/50-clustergen.conf", limits, restart("systemd-logind.service")),
    File("all/etc/systemd/journald.conf.d/50-clustergen.conf", limits, restart("systemd-journald.service")),
)
