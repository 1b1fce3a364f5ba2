"""slurmdbd.conf, and MariaDB's settings for it."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster import database
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm_daemons import port
from clustergen.records import record
from clustergen.render.views.slurm.daemons import log_file, log_level, pid_file
from clustergen.render.views.slurm.settings import Section, Setting, section, with_options
from clustergen.render.views.slurm.stated import as_stated

FILE = "slurmdbd.conf"
SECRET = "/etc/slurm/slurmdbd.secret.conf"
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


def is_local(cluster: Cluster) -> bool:
    """MariaDB on the slurmdbd node."""
    return database.is_local(cluster.manifest)


def has_password(cluster: Cluster) -> bool:
    """True if the database asks for one: not on the slurmdbd node, where by its socket the account is the password."""
    stated = cluster.manifest.slurm.accounting.password
    return not is_local(cluster) if stated is None else stated


def database_endpoint(cluster: Cluster) -> tuple[str, str]:
    """Host and port of the database; the port is empty where the manifest has none."""
    host = cluster.manifest.slurm.accounting.database_host
    if host.count(":") != 1:  # more of them are an IPv6 address
        return host, ""
    name, _, port_number = host.partition(":")
    return name, port_number


def slurmdbd_conf(cluster: Cluster) -> SlurmdbdConf:
    slurm = cluster.manifest.slurm
    spec = slurm.accounting
    hosts = cluster.accounting_hosts
    host, database_port = database_endpoint(cluster)
    daemon = [
        Setting("DbdHost", hosts[0]),
        Setting("DbdBackupHost", hosts[1], "takes over if the first does not respond") if len(hosts) > 1 else None,
        Setting("DbdPort", port(cluster, "slurmdbd")),
        Setting("SlurmUser", slurm.user, "the default is root"),
        Setting("AuthType", f"auth/{slurm.auth}", "the same as in slurm.conf"),
        Setting("PidFile", pid_file(cluster, "slurmdbd")),
        Setting("LogFile", log_file(cluster, "slurmdbd")),
        Setting("DebugLevel", log_level(cluster, "slurmdbd")),
        Setting("PrivateData", ",".join(spec.private)),
    ]
    storage = [
        Setting("StorageType", "accounting_storage/mysql"),
        Setting("StorageHost", host, "" if has_password(cluster) else "by socket, authenticated by the Unix account"),
        Setting("StoragePort", int(database_port)) if database_port else None,
        Setting("StorageUser", spec.database_user),
        Setting("StorageLoc", spec.database_name),
    ]
    purge = [Setting(_PURGE[kind], str(age)) for kind, age in spec.purge.items()]
    made = [
        section("Daemon", FILE, cluster.release, daemon),
        section("Database", FILE, cluster.release, storage),
        section("Retention of records", FILE, cluster.release, purge),
    ]
    made = as_stated(cluster, FILE, made)
    return SlurmdbdConf(
        SECRET if has_password(cluster) else None, with_options(made, spec.options, "slurm.accounting.options")
    )


def mariadb_conf(cluster: Cluster, os: OperatingSystem) -> MariadbConf | None:
    """The smallest pool that fits all database nodes of an operating system, as they have one file."""
    if not is_local(cluster):
        return None
    groups = [group for group in cluster.with_role("slurm-accounting") if group.type.os == os]
    pool = min((_pool_mib(group) for group in groups), default=database.own_pool_mib(database.UNKNOWN_MIB))
    return MariadbConf(pool, pool // 4)


def _pool_mib(group: NodeGroup) -> int:
    """Where jobs run, at most half of what they do not get: the other half is for the daemons and the system."""
    node_type = group.type
    if not node_type.is_resolved:
        return database.own_pool_mib(database.UNKNOWN_MIB)
    if not group.has("slurm-compute"):
        return database.own_pool_mib(node_type.memory_mib)
    pool = database.shared_pool_mib(node_type.memory_mib)
    return max(_LEAST_POOL_MIB, min(pool, node_type.reserved_mib // 2)) if node_type.reserved_mib else pool
