"""slurm.conf: what is recorded of jobs, and where it goes."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.render.views.slurm.devices import tres_of
from clustergen.render.views.slurm.settings import Section, Setting, section, words

FILE = "slurm.conf"


def accounting(cluster: Cluster) -> Section:
    """Without a node for slurmdbd nothing is counted: slurmctld stops on GPUs in the list then."""
    spec = cluster.of(Accounting)
    hosts = cluster.slurm.slurmdbd_hosts
    tres = ",".join(dict.fromkeys([*([] if cluster.slurm.bare else tres_of(cluster)), *spec.tres]))
    rows: list[Setting | None] = []
    if hosts:
        rows += [
            Setting("AccountingStorageType", "accounting_storage/slurmdbd"),
            Setting("AccountingStorageHost", hosts[0]),
            Setting("AccountingStorageBackupHost", hosts[1]) if len(hosts) > 1 else None,
        ]
    if hosts or cluster.slurm.bare:
        rows += [
            Setting("AccountingStoragePort", cluster.slurm.daemons["slurmdbd"].port),
            Setting("AccountingStorageEnforce", words("AccountingStorageEnforce", spec.enforce, cluster.slurm.release)),
            Setting("AccountingStoreFlags", words("AccountingStoreFlags", spec.store, cluster.slurm.release)),
            Setting("AccountingStorageTRES", tres, "tracked in addition to CPUs, memory and nodes"),
            Setting("JobAcctGatherType", f"jobacct_gather/{spec.gather}"),
            Setting("JobAcctGatherParams", words("JobAcctGatherParams", spec.gather_parameters, cluster.slurm.release)),
            *sampling(cluster),
        ]
    rows.append(Setting("PrivateData", ",".join(spec.private), "what users cannot see of others"))
    return section("Accounting", FILE, cluster.slurm.release, rows)


def sampling(cluster: Cluster) -> list[Setting]:
    spec = cluster.of(Accounting)
    every = spec.gather_frequency_s
    if spec.energy == "none":
        return [Setting("JobAcctGatherFrequency", every, "seconds between samples of a task")]
    return [
        Setting("JobAcctGatherFrequency", f"task={every},energy={every}", "seconds between samples of a task"),
        Setting("AcctGatherEnergyType", f"acct_gather_energy/{spec.energy}"),
        Setting("AcctGatherNodeFreq", every),
    ]
