"""slurmdbd.conf, where slurmdbd runs on nodes of this cluster."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.row import Row

_PURGE = {
    "event": "PurgeEventAfter", "job": "PurgeJobAfter", "resv": "PurgeResvAfter", "step": "PurgeStepAfter",
    "suspend": "PurgeSuspendAfter", "txn": "PurgeTXNAfter", "usage": "PurgeUsageAfter",
}  # fmt: skip


def daemon(cluster: Cluster) -> Iterator[Row]:
    slurm, hosts = cluster.slurm, cluster.slurm.accounting_hosts
    slurmdbd = slurm.daemons["slurmdbd"]
    yield Row("DbdHost", hosts[0], always=True)
    if len(hosts) > 1:
        yield Row("DbdBackupHost", hosts[1], "takes over if the first does not respond", always=True)
    yield Row("DbdPort", slurmdbd.port)
    yield Row("SlurmUser", slurm.user, "the default is root", always=True)
    yield Row("AuthType", f"auth/{slurm.auth}", "the same as in slurm.conf")
    yield Row("PidFile", slurmdbd.pid_file)
    yield Row("LogFile", slurmdbd.log_file)
    yield Row("DebugLevel", slurmdbd.log_level)
    yield Row("PrivateData", ",".join(cluster.of(Accounting).private))


def database(cluster: Cluster) -> Iterator[Row]:
    spec = cluster.of(Accounting)
    by_socket = "by socket, authenticated by the Unix account"
    yield Row("StorageType", "accounting_storage/mysql", always=True)
    yield Row("StorageHost", spec.database_host, "" if spec.has_password else by_socket)
    yield Row("StoragePort", spec.database_port or None)
    yield Row("StorageUser", spec.database_user)
    yield Row("StorageLoc", spec.database_name)


def retention(cluster: Cluster) -> Iterator[Row]:
    yield from (Row(_PURGE[kind], str(age)) for kind, age in cluster.of(Accounting).purge.items())
