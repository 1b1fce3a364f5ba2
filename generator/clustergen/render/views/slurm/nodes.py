"""slurm.conf: node sets, a NodeName line per entry of the manifest, and the partitions."""

from __future__ import annotations

from itertools import groupby

from clustergen.cluster.model import Cluster, NodeGroup, NodeType, Partition, once_per_cluster
from clustergen.hostlist import fold
from clustergen.records import record
from clustergen.render.formats import Safe, comment_text
from clustergen.render.views.slurm.devices import gres
from clustergen.render.views.slurm.scheduling import preempt_mode
from clustergen.render.views.slurm.settings import Pairs, block

FILE = "slurm.conf"


@record
class TypeNodes:
    """The lines of one node type."""

    title: Safe
    lines: tuple[Safe, ...]


def node_sets(cluster: Cluster) -> tuple[Safe, ...]:
    sets = cluster.manifest.slurm.node_sets
    return tuple(block(FILE, cluster.release, [("NodeSet", name), ("Nodes", hosts)]) for name, hosts in sets.items())


def nodes(cluster: Cluster) -> tuple[TypeNodes, ...]:
    """In the manifest's order, which is that in which Slurm counts and ranks them."""
    runs = ((kind, list(groups)) for kind, groups in groupby(cluster.compute, key=lambda group: group.type.name))
    return tuple(
        TypeNodes(comment_text(_title(groups[0].type)), tuple(node_line(cluster, group) for group in groups))
        for _, groups in runs
    )


def _title(kind: NodeType) -> str:
    return kind.name if kind.title == kind.name else f"{kind.name}: {kind.title}"


def node_line(cluster: Cluster, group: NodeGroup) -> Safe:
    """One entry of the manifest. Of a machine of which nothing is known, only what it is called."""
    kind = group.type
    own = {**kind.slurm_options, **group.slurm_options}
    boards = {key.lower() for key in own} & {"boards", "socketsperboard"}
    names: Pairs = [("NodeName", group.folded), ("NodeAddr", fold(group.addresses))]
    hardware: Pairs = [
        ("Sockets", None if boards else kind.slurm_sockets),
        ("CoresPerSocket", kind.slurm_cores_per_socket),
        ("ThreadsPerCore", kind.threads_per_core),
        ("RealMemory", kind.real_memory_mib),
        ("MemSpecLimit", kind.reserved_mib or None),
        ("CoreSpecCount", kind.reserved_cores or None),
    ]
    use: Pairs = [
        ("Gres", gres(kind.gpus)),
        ("Feature", ",".join(dict.fromkeys([*kind.features, *group.features]))),
        ("Weight", weight(cluster, group)),
        ("State", group.state),
    ]
    return block(FILE, cluster.release, [*names, *(hardware if kind.known else []), *use], own)


def weight(cluster: Cluster, group: NodeGroup) -> int | None:
    """Jobs without GPUs go to nodes without GPUs first, where there are both."""
    stated = group.weight if group.weight is not None else group.type.weight
    if stated is not None or cluster.bare:
        return stated
    return (10 if group.type.gpus else 1) if _both_kinds(cluster) else None


@once_per_cluster
def _both_kinds(cluster: Cluster) -> bool:
    return len({group.type.gpus is not None for group in cluster.compute}) > 1


def partition_line(cluster: Cluster, partition: Partition) -> Safe:
    spec = partition.spec
    given: Pairs = [
        ("PartitionName", partition.name),
        ("Nodes", None if spec.nodes == "none" else partition.nodes),
        ("Default", "YES" if partition.default else None),
        ("State", spec.state),
        ("DefaultTime", None if cluster.bare and not spec.default_time else _time(partition.default_time_minutes)),
        ("MaxTime", None if cluster.bare and not spec.max_time else _time(partition.max_time_minutes)),
        ("PriorityTier", spec.priority_tier),
        ("PriorityJobFactor", spec.priority_factor),
        ("PreemptMode", preempt_mode(spec.preempt) if spec.preempt else None),
        ("GraceTime", spec.grace_time.seconds if spec.grace_time else None),
        (
            "OverSubscribe",
            {"no": "NO", "exclusive": "EXCLUSIVE", "yes": "YES", "force": "FORCE"}.get(spec.oversubscribe or ""),
        ),
        ("MinNodes", spec.min_nodes),
        ("MaxNodes", spec.max_nodes),
        ("MaxCPUsPerNode", spec.max_cpus_per_node),
        ("QOS", spec.qos),
        ("AllowAccounts", ",".join(spec.allow_accounts)),
        ("AllowQos", ",".join(spec.allow_qos)),
        ("AllowGroups", ",".join(spec.allow_groups)),
        ("Hidden", "YES" if spec.hidden else None),
        ("DefCpuPerGPU", partition.cpus_per_gpu),
        ("DefMemPerGPU", partition.mem_per_gpu_mib),
        ("DefMemPerCPU", partition.mem_per_cpu_mib),
        ("TRESBillingWeights", billing(partition) if cluster.accounting_hosts or cluster.bare else None),
    ]
    return block(FILE, cluster.release, given, spec.options)


def billing(partition: Partition) -> str:
    """TRESBillingWeights; memory is weighed by the GiB."""
    return ",".join(
        f"{name}={weight:g}{'G' if name.lower() == 'mem' else ''}" for name, weight in partition.billing.items()
    )


def _time(minutes: int | None) -> str:
    if minutes is None:
        return "UNLIMITED"
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02d}:{minutes:02d}:00" if days else f"{hours:02d}:{minutes:02d}:00"
