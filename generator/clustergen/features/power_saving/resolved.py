"""Power saving as resolved, and which compute nodes it leaves on."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.exports import serves
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.features.power_saving import section as manifest
from clustergen.hostlist import expand
from clustergen.records import copied, record

PROGRAM = "/usr/local/sbin/clustergen-power"
"""Of a controller, with a hyphen and an action behind it."""
ACTIONS = ("off", "on", "fail")
BMC_PASSWORD = "/etc/clustergen/bmc-password"


@record
class PowerSaving:
    """How slurmctld switches idle nodes off, and on again. `command`: the site's program; None: through the BMCs."""

    suspend_time_s: int  # idle time before a node is switched off
    suspend_timeout_s: int
    suspend_per_minute: int  # nodes
    resume_per_minute: int  # nodes
    except_nodes: str  # empty: none
    except_partitions: tuple[str, ...]
    user: str  # of the BMCs
    check_certificates: bool  # of the BMCs
    command: str | None


def resolve(section: manifest.PowerSaving, _: Cluster) -> PowerSaving:
    return copied(
        PowerSaving,
        section,
        suspend_time_s=section.suspend_time,
        suspend_timeout_s=section.suspend_timeout,
        suspend_per_minute=section.suspend_rate,
        resume_per_minute=section.resume_rate,
        except_nodes=section.except_nodes or "",
    )


def with_other_roles(cluster: Cluster) -> Iterator[str]:
    """Host lists of compute nodes that others need even when they have no job."""
    for group in cluster.compute:
        if set(group.roles) - {"slurm-compute"} or any(
            serves(cluster, group, entry) for entry in cluster.storage.values()
        ):
            yield group.folded


def staying_on(cluster: Cluster) -> frozenset[str]:
    """Nodes that are never switched off: stated ones, those with other roles, and those of partitions that stay on."""
    if not cluster.has(PowerSaving):
        return frozenset()
    saving = cluster.of(PowerSaving)
    lists = [saving.except_nodes, *with_other_roles(cluster)]
    hosts = {host for text in lists if text for host in expand(text)}
    partitions = cluster.slurm.partitions
    return frozenset(hosts.union(*(one.hosts for one in partitions if one.name in saving.except_partitions)))


def switched(cluster: Cluster) -> Iterator[NodeGroup]:
    """Groups of compute nodes of which some are switched off."""
    staying = staying_on(cluster)
    return (group for group in cluster.compute if not staying.issuperset(group.hosts))


def cloud_nodes(cluster: Cluster) -> tuple[str, ...]:
    """Nodes of a cloud that are switched: nobody repairs them, and a lost one is made anew."""
    staying = staying_on(cluster)
    clouds = (group for group in cluster.compute if group.state == "CLOUD" and cluster.has(PowerSaving))
    return tuple(host for group in clouds for host in group.hosts if host not in staying)


def by_bmc(cluster: Cluster) -> Iterator[NodeGroup]:
    """Groups that their BMCs switch. Beside nodes of a cloud, which need a command, this one is for those alone."""
    if not cluster.has(PowerSaving) or cluster.networks.bmc is None:
        return
    if cluster.of(PowerSaving).command and not cloud_nodes(cluster):
        return
    yield from (group for group in cluster.compute if group.bmc and group.state != "CLOUD")


def protocol_of_bmcs(cluster: Cluster) -> str | None:
    """The protocol of the BMCs that switch nodes; None where a command switches them, or nothing."""
    bmc = cluster.networks.bmc
    return bmc.protocol if bmc and any(by_bmc(cluster)) else None


RECORDS = {PowerSaving: resolve}
