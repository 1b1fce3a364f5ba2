"""Accounting: the records of jobs, and the database with them: in slurm.conf, acct_gather.conf and slurmdbd.conf."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.devices import tres_of
from clustergen.cluster.slurm.keys.row import Row, words
from clustergen.slurmrules.field_table import PURGE_KEYS


def accounting(cluster: Cluster) -> Iterator[Row]:
    """Without a node for slurmdbd nothing is counted: slurmctld stops on GPUs in the list then."""
    spec, release = cluster.of(Accounting), cluster.slurm.release
    hosts = cluster.slurm.slurmdbd_hosts
    if hosts:
        yield Row("AccountingStorageType", "accounting_storage/slurmdbd", always=True)
        yield Row("AccountingStorageHost", hosts[0], always=True)
        yield Row("AccountingStorageBackupHost", hosts[1] if len(hosts) > 1 else None, always=True)
    if hosts or cluster.slurm.bare:
        tres = ",".join(dict.fromkeys([*([] if cluster.slurm.bare else tres_of(cluster)), *spec.tres]))
        yield Row("AccountingStoragePort", cluster.slurm.daemons["slurmdbd"].port)
        yield Row("AccountingStorageEnforce", words("AccountingStorageEnforce", spec.enforce, release))
        yield Row("AccountingStoreFlags", words("AccountingStoreFlags", spec.store, release))
        yield Row("AccountingStorageTRES", tres, "tracked in addition to CPUs, memory and nodes")
        yield Row("JobAcctGatherType", f"jobacct_gather/{spec.gather}")
        yield Row("JobAcctGatherParams", words("JobAcctGatherParams", spec.gather_parameters, release))
        has_energy, every = spec.energy != "none", spec.gather_frequency_s
        frequency = f"task={every},energy={every}" if has_energy else every
        yield Row("JobAcctGatherFrequency", frequency, "seconds between samples of a task")
        if has_energy:
            yield Row("AcctGatherEnergyType", f"acct_gather_energy/{spec.energy}")
            yield Row("AcctGatherNodeFreq", every)


def acct_gather(cluster: Cluster) -> Iterator[Row]:
    """The interval is for BMCs; other sources of energy are read when a sample is due."""
    spec = cluster.of(Accounting)
    if spec.energy == "ipmi":
        yield Row("EnergyIPMIFrequency", max(spec.gather_frequency_s, 10), "seconds; a BMC is slow", always=True)
        corrected = "energy up to now instead of up to the last sample"
        yield Row("EnergyIPMICalcAdjustment", "yes", corrected, always=True)


def slurmdbd_daemon(cluster: Cluster) -> Iterator[Row]:
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


def slurmdbd_database(cluster: Cluster) -> Iterator[Row]:
    spec = cluster.of(Accounting)
    by_socket = "by socket, authenticated by the Unix account"
    yield Row("StorageType", "accounting_storage/mysql", always=True)
    yield Row("StorageHost", spec.database_host, "" if spec.has_password else by_socket)
    yield Row("StoragePort", spec.database_port or None)


def slurmdbd_retention(cluster: Cluster) -> Iterator[Row]:
    yield from (Row(PURGE_KEYS[kind], str(age)) for kind, age in cluster.of(Accounting).purge.items())
