"""slurm.conf: what is recorded of jobs, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.devices import tres_of
from clustergen.cluster.slurm.keys.row import Row, words


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
    yield Row("PrivateData", ",".join(spec.private), "what users cannot see of others")
