"""slurmdbd.conf, and MariaDB's settings for it."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, UNKNOWN_MIB, Accounting, own_pool_mib, shared_pool_mib
from clustergen.records import record
from clustergen.render.views.slurm.settings import Section, Setting, section, with_options
from clustergen.render.views.slurm.stated import as_stated

FILE = "slurmdbd.conf"
_LEAST_POOL_MIB = 128  # MariaDB's own default
_PURGE = {
    "event": "PurgeEventAfter", "job": "PurgeJobAfter", "resv": "PurgeResvAfter", "step": "PurgeStepAfter",
    "suspend": "PurgeSuspendAfter", "txn": "PurgeTXNAfter", "usage": "PurgeUsageAfter",
}  # fmt: skip


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
    slurm, spec = cluster.slurm, cluster.of(Accounting)
    hosts, slurmdbd = slurm.accounting_hosts, slurm.daemons["slurmdbd"]
    daemon = [
        Setting("DbdHost", hosts[0]),
        Setting("DbdBackupHost", hosts[1], "takes over if the first does not respond") if len(hosts) > 1 else None,
        Setting("DbdPort", slurmdbd.port),
        Setting("SlurmUser", slurm.user, "the default is root"),
        Setting("AuthType", f"auth/{slurm.auth}", "the same as in slurm.conf"),
        Setting("PidFile", slurmdbd.pid_file),
        Setting("LogFile", slurmdbd.log_file),
        Setting("DebugLevel", slurmdbd.log_level),
        Setting("PrivateData", ",".join(spec.private)),
    ]
    by_socket = "by socket, authenticated by the Unix account"
    storage = [
        Setting("StorageType", "accounting_storage/mysql"),
        Setting("StorageHost", spec.database_host, "" if spec.has_password else by_socket),
        Setting("StoragePort", spec.database_port) if spec.database_port else None,
        Setting("StorageUser", spec.database_user),
        Setting("StorageLoc", spec.database_name),
    ]
    purge = [Setting(_PURGE[kind], str(age)) for kind, age in spec.purge.items()]
    made = [
        section("Daemon", FILE, cluster.slurm.release, daemon),
        section("Database", FILE, cluster.slurm.release, storage),
        section("Retention of records", FILE, cluster.slurm.release, purge),
    ]
    made = as_stated(cluster, FILE, made)
    return SlurmdbdConf(
        PASSWORD_FILE if spec.has_password else None, with_options(made, spec.options, "slurm.accounting.options")
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
