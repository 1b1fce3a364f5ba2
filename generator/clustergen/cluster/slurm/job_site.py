"""The job's surroundings on this cluster: its partition, a node's share of resources, shared directories, account and
QOS.
"""

from __future__ import annotations

from clustergen.cluster.entry import Entry
from clustergen.cluster.exports import serves
from clustergen.cluster.groups import mounts, users_groups
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.model import Partition
from clustergen.cluster.slurm.rights import rights_of
from clustergen.records import record

_HOUR = 60
_HOME = "/home"


@record
class JobSite:
    """Where jobs of a partition run. Sizes are those of one node."""

    partition: Partition
    kind: NodeType
    nodes: int  # of this type, as many as one job may have
    gpus: int  # of one job: one MIG instance where the GPUs are split, as NCCL joins none
    gres: str  # "h100", or a MIG instance's type; empty: Slurm counts GPUs without types
    cores: int  # that jobs may use
    threads: int  # of a core
    cpus_per_gpu: int
    mem_per_gpu_mib: int
    longest: int | None  # MaxTime in minutes; None: unlimited
    minutes: int  # that a short job asks for
    account: str  # empty: the user's default account
    qos: str  # empty: the account's default QOS
    login: str  # a host where users log in
    shared: bool  # what users see where they log in is what all nodes of a job see


def site_of(cluster: Cluster, name: str | None) -> JobSite | None:
    """The site of a partition, or of the default one; None where it is not defined or runs no jobs."""
    partition = partition_of(cluster, name)
    kind = _kind(cluster, partition) if partition else None
    if partition is None or kind is None:
        return None
    hosts = [host for group in cluster.of_type[kind.name] for host in group.hosts if host in partition.hosts]
    parts = max(kind.gpus.gres_count, 1) if kind.gpus else 1
    gpus, gres = _gpus(kind)
    cores = min(kind.job_cores, (partition.max_cpus_per_node or kind.cpus) // kind.threads_per_core)
    is_split = kind.gpus is not None and any(kind.gpus.mig)
    return JobSite(
        partition=partition,
        kind=kind,
        nodes=1 if is_split else min(len(hosts), partition.max_nodes or len(hosts)),
        gpus=gpus,
        gres=gres,
        cores=cores,
        threads=kind.threads_per_core,
        cpus_per_gpu=min(partition.cpus_per_gpu or kind.cpus, max(1, cores // parts) * kind.threads_per_core),
        mem_per_gpu_mib=min(partition.mem_per_gpu_mib or kind.memory_mib, kind.job_memory_mib // parts),
        longest=partition.max_time_minutes,
        minutes=min(_HOUR, partition.max_time_minutes or _HOUR),
        account=partition.allow_accounts[0] if partition.allow_accounts else "",
        qos=_qos(cluster, partition),
        login=next((host for group in users_groups(cluster) for host in group.hosts), ""),
        shared=_home_is_shared(cluster, kind),
    )


def partition_of(cluster: Cluster, name: str | None) -> Partition | None:
    """The named one, else the default, else the first that is open to users; one that is not UP will be again."""
    usable = sorted((one for one in cluster.slurm.partitions if one.hosts), key=lambda one: one.state != "UP")
    if name is not None:
        return next((one for one in usable if one.name == name), None)
    listed = [one for one in usable if not (one.hidden or one.require_reservation)]
    return next((one for one in listed if one.default), listed[0] if listed else None)


def _kind(cluster: Cluster, partition: Partition) -> NodeType | None:
    """The type with the most GPUs in a partition, or else the most nodes."""
    counts: dict[str, int] = {}
    for group in cluster.compute:
        counts[group.type.name] = counts.get(group.type.name, 0) + sum(host in partition.hosts for host in group.hosts)
    kinds = [node_type for node_type in cluster.node_types if counts.get(node_type.name) and node_type.is_resolved]
    return max(
        kinds,
        key=lambda node_type: (
            counts[node_type.name] * (node_type.gpus.count if node_type.gpus else 0),
            counts[node_type.name],
        ),
        default=None,
    )


def _gpus(node_type: NodeType) -> tuple[int, str]:
    """How many GPUs of one type a job has on a node, and the type: all whole GPUs, or one of the smallest instances."""
    if node_type.gpus is None:
        return 0, ""
    layouts = [layout for layout in node_type.gpus.mig if layout]
    if not layouts:
        return node_type.gpus.count, node_type.gpus.gres_type
    profile = min(
        (name for layout in layouts for name in layout.profiles), key=lambda name: int(name.partition("g")[0])
    )
    return 1, node_type.gpus.instance_type(profile)


def _qos(cluster: Cluster, partition: Partition) -> str:
    """The QOS to state: none where the default QOS of every account with users may be used."""
    allowed = {name.lower() for name in partition.allow_qos}
    accounts = cluster.of(Associations).accounts
    if not allowed or not accounts:
        return ""
    rights = rights_of(accounts)
    used = [rights[name] for name, account in accounts.items() if account.users]
    if all(one.default.lower() in allowed for one in used):
        return ""
    return next((name for one in used for name in one.qos if name.lower() in allowed), "")


def visible(cluster: Cluster, group: NodeGroup) -> dict[str, Entry]:
    """File systems that the nodes of a group have at their mount points, as clients or as their server."""
    served = {name: entry for name, entry in cluster.storage.items() if serves(cluster, group, entry)}
    return {**mounts(cluster, group), **served}


def shared_with_jobs(cluster: Cluster, node_type: NodeType) -> dict[str, Entry]:
    """File systems that users can write to where they log in, and that all nodes of a type have as well."""
    groups = [group for group in cluster.of_type[node_type.name] if group.has("slurm-compute")]
    both = [visible(cluster, group) for group in (*users_groups(cluster), *groups)]
    return {
        name: entry
        for name, entry in (both[0].items() if both else ())
        if all(name in one for one in both) and entry.is_shared and not entry.read_only
    }


def _home_is_shared(cluster: Cluster, node_type: NodeType) -> bool:
    """True if home directories are the same on all nodes; on a single machine they are."""
    if cluster.host_count == 1:
        return True
    return any(entry.mount.rstrip("/") == _HOME for entry in shared_with_jobs(cluster, node_type).values())
