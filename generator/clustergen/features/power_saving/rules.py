"""Power saving: every node that may be switched off can be switched on again."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm import key
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.features.power_saving.resolved import PowerSaving, by_bmc, cloud_nodes, staying_on, switched
from clustergen.hostlist import compress, expand

_PATH = ("slurm", "power_saving")


def power_saving_without_bmc(cluster: Cluster) -> Iterator[Finding]:
    if not cluster.has(PowerSaving) or cluster.of(PowerSaving).command:
        return
    lacking = [group.folded for group in switched(cluster) if cluster.networks.bmc is None or not group.bmc]
    if lacking:
        yield Finding(
            "power-saving-without-bmc",
            _PATH,
            f"{', '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no BMC through which slurmctld could switch"
            " nodes off and on",
            "add networks.bmc and addresses: {bmc: …} to these nodes, or set command, or list them in except_nodes",
            key=True,
        )


def exceptions(cluster: Cluster, saving: PowerSaving) -> Iterator[Finding]:
    hosts = {host for group in cluster.compute for host in group.hosts}
    for host in expand(saving.except_nodes) if saving.except_nodes else ():
        if host not in hosts:
            guess = did_you_mean(host, hosts)
            yield Finding("node-unknown", (*_PATH, "except_nodes"), f"'{host}' is not a compute node", guess)
            break
    names = [partition.name for partition in cluster.slurm.partitions]
    for index, name in enumerate(saving.except_partitions):
        if name not in names:
            path = (*_PATH, "except_partitions", index)
            message = f"partition '{name}' is not defined: slurmctld ignores it, and switches its nodes off"
            yield Finding("power-saving-partition-unknown", path, message, did_you_mean(name, names))


def power_saving_mixes_nodes(cluster: Cluster) -> Iterator[Finding]:
    """A command that creates and deletes machines of a cloud is called for machines of the site, too."""
    rented = cloud_nodes(cluster)
    if not rented:
        return
    staying = staying_on(cluster)
    through_bmc = {host for group in by_bmc(cluster) for host in group.hosts}
    owned = [
        host
        for group in switched(cluster)
        if group.state != "CLOUD"
        for host in group.hosts
        if host not in staying and host not in through_bmc
    ]
    saving = cluster.of(PowerSaving)
    if owned and saving.command:
        names = compress(sorted(owned))
        stays = ",".join(filter(None, [saving.except_nodes, names]))
        yield Finding(
            "power-saving-mixes-nodes",
            (*_PATH, "command"),
            f"'{saving.command}' is called for the cloud nodes {compress(rented)} and for {names}, which"
            f" {'has' if len(owned) == 1 else 'have'} no BMC",
            f'set except_nodes: "{stays}", or add networks.bmc and addresses: {{bmc: …}} to these nodes',
        )


def power_saving_without_states(cluster: Cluster) -> Iterator[Finding]:
    row = key("slurm.conf", "SuspendExcStates")
    if cluster.has(PowerSaving) and row and row.state(cluster.slurm.release) != "known":
        yield Finding(
            "power-saving-without-states",
            _PATH,
            f"Slurm {cluster.slurm.release} has no SuspendExcStates: it may switch off a drained node that somebody"
            " works on",
            "before you work on a node, run: scontrol update NodeName=NODE State=POWER_UP, and list it in except_nodes",
            key=True,
        )
