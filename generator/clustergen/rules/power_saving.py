"""Power saving: every node that may be switched off can be switched on again."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.hostlist import expand

_PATH = ("slurm", "power_saving")


def without_bmc(cluster: Cluster) -> Iterator[Finding]:
    saving = cluster.manifest.slurm.power_saving
    if saving is None or saving.command:
        return
    staying = set(expand(saving.except_nodes)) if saving.except_nodes else set()
    lacking = [
        group.folded
        for group in cluster.compute
        if not staying.issuperset(group.hosts) and (cluster.manifest.networks.bmc is None or not group.bmc)
    ]
    if lacking:
        yield Finding(
            "power-saving-without-bmc",
            _PATH,
            f"{', '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no BMC through which slurmctld could switch"
            " nodes off and on",
            "add networks.bmc and addresses: {bmc: …} to these nodes, or set command, or list them in except_nodes",
            key=True,
        )


def exceptions(cluster: Cluster) -> Iterator[Finding]:
    saving = cluster.manifest.slurm.power_saving
    if saving is None:
        return
    hosts = {host for group in cluster.compute for host in group.hosts}
    for host in expand(saving.except_nodes) if saving.except_nodes else ():
        if host not in hosts:
            guess = did_you_mean(host, hosts)
            yield Finding("node-unknown", (*_PATH, "except_nodes"), f"'{host}' is not a compute node", guess)
            break
    names = cluster.manifest.slurm.partitions
    for index, name in enumerate(saving.except_partitions):
        if names and name not in names:
            path = (*_PATH, "except_partitions", index)
            yield Finding("partition-unknown", path, f"partition '{name}' is not defined", did_you_mean(name, names))


RULES = (without_bmc, exceptions)
