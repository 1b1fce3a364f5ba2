"""slurmdbd.conf, and MariaDB's settings for it."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, UNKNOWN_MIB, Accounting, own_pool_mib, shared_pool_mib
from clustergen.records import record
from clustergen.render.views.slurm.layout import Section, sections

_LEAST_POOL_MIB = 128  # MariaDB's own default


@record
class SlurmdbdConf:
    secret: str | None
    """File with the line StoragePass=…, put on the node when the tree is applied; None without a password."""
    sections: tuple[Section, ...]


@record
class MariadbConf:
    buffer_pool_mib: int
    log_file_mib: int


def slurmdbd_conf(cluster: Cluster) -> SlurmdbdConf:
    return SlurmdbdConf(
        PASSWORD_FILE if cluster.of(Accounting).has_password else None, sections(cluster, "slurmdbd.conf")
    )


def mariadb_conf(cluster: Cluster, os: OperatingSystem) -> MariadbConf | None:
    """The smallest pool that fits all database nodes of an operating system, as they have one file."""
    if not cluster.of(Accounting).database_is_local:
        return None
    groups = [group for group in cluster.with_role("slurm-accounting") if group.type.os == os]
    pool = min((_pool_mib(group) for group in groups), default=own_pool_mib(UNKNOWN_MIB))
    return MariadbConf(pool, pool // 4)


def _pool_mib(group: NodeGroup) -> int:
    """Where jobs run, at most half of what they do not get: the other half is for the daemons and the system."""
    node_type = group.type
    if not node_type.is_resolved:
        return own_pool_mib(UNKNOWN_MIB)
    if not group.has("slurm-compute"):
        return own_pool_mib(node_type.memory_mib)
    pool = shared_pool_mib(node_type.memory_mib)
    return max(_LEAST_POOL_MIB, min(pool, node_type.reserved_mib // 2)) if node_type.reserved_mib else pool
