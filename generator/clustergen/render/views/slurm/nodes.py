"""slurm.conf: node sets, a NodeName line per entry of the manifest, and the partitions."""

from __future__ import annotations

from itertools import groupby

from clustergen.cluster.assumptions import of_hardware
from clustergen.cluster.cores import slurm_cpu_list
from clustergen.cluster.model import Cluster, NodeGroup, NodeType, once_per_cluster
from clustergen.cluster.slurm.model import Partition
from clustergen.hostlist import compress
from clustergen.records import record
from clustergen.render.formats import Safe, comment_text
from clustergen.render.views.slurm.devices import gres
from clustergen.render.views.slurm.printing import printed
from clustergen.render.views.slurm.settings import Pairs, Value, block
from clustergen.slurmrules.field_table import FIELDS
from clustergen.units.duration import slurm_minutes

FILE = "slurm.conf"


@record
class TypeNodes:
    """The lines of one node type."""

    title: Safe
    lines: tuple[Safe, ...]
    assumed: Safe | None = None
    """Values of the lines that no source confirms."""


def node_sets(cluster: Cluster) -> tuple[Safe, ...]:
    sets = cluster.slurm.node_sets
    return tuple(
        block(FILE, cluster.slurm.release, [("NodeSet", name), ("Nodes", hosts)]) for name, hosts in sets.items()
    )


def nodes(cluster: Cluster) -> tuple[TypeNodes, ...]:
    """In the manifest's order, which is that in which Slurm counts and ranks them."""
    runs = ((kind, list(groups)) for kind, groups in groupby(cluster.compute, key=lambda group: group.type.name))
    return tuple(
        TypeNodes(
            comment_text(_title(groups[0].type)),
            tuple(node_line(cluster, group) for group in groups),
            _assumed(cluster, groups[0].type),
        )
        for _, groups in runs
    )


def _assumed(cluster: Cluster, node_type: NodeType) -> Safe | None:
    assumption = of_hardware(cluster, node_type)
    return comment_text(f"Assumed: {assumption.message}; {assumption.hint}.") if assumption is not None else None


def _title(node_type: NodeType) -> str:
    return node_type.name if node_type.title == node_type.name else f"{node_type.name}: {node_type.title}"


def node_line(cluster: Cluster, group: NodeGroup) -> Safe:
    """One entry of the manifest. Of a machine of which nothing is known, only what it is called."""
    node_type = group.type
    options = {**node_type.slurm_options, **group.slurm_options}
    boards = {key.lower() for key in options} & {"boards", "socketsperboard"}
    names: Pairs = [("NodeName", group.folded), ("NodeAddr", compress(group.addresses))]
    hardware: Pairs = [
        ("Sockets", None if boards else node_type.slurm_sockets),
        ("CoresPerSocket", node_type.slurm_cores_per_socket),
        ("ThreadsPerCore", node_type.threads_per_core),
        ("RealMemory", node_type.real_memory_mib),
        ("MemSpecLimit", node_type.reserved_mib or None),
        ("CoreSpecCount", None if node_type.polling else node_type.reserved_cores or None),
        ("CPUSpecList", slurm_cpu_list(node_type) or None),
    ]
    use: Pairs = [
        ("Gres", gres(node_type.gpus)),
        ("Feature", ",".join(dict.fromkeys([*node_type.features, *group.features]))),
        ("Weight", weight(cluster, group)),
        ("State", group.state),
    ]
    return block(FILE, cluster.slurm.release, [*names, *(hardware if node_type.is_resolved else []), *use], options)


def weight(cluster: Cluster, group: NodeGroup) -> int | None:
    """Jobs without GPUs go to nodes without GPUs first, where there are both."""
    stated = _stated_weight(group)
    if stated is not None or cluster.slurm.bare:
        return stated
    return (10 if group.type.gpus else 1) if _both_kinds(cluster) else None


def weights_derived(cluster: Cluster) -> bool:
    """True if a node has a Weight that the manifest does not state."""
    return any(weight(cluster, group) is not None and _stated_weight(group) is None for group in cluster.compute)


def _stated_weight(group: NodeGroup) -> int | None:
    return group.weight if group.weight is not None else group.type.weight


@once_per_cluster
def _both_kinds(cluster: Cluster) -> bool:
    return len({group.type.gpus is not None for group in cluster.compute}) > 1


def partition_line(cluster: Cluster, partition: Partition) -> Safe:
    """The fields that the partition states, by the table of fields, and those whose value is worked out."""
    derived: dict[str, Value | None] = {
        "Nodes": None if partition.nodes == "none" else partition.nodes,
        "Default": "YES" if partition.default else None,
        "DefaultTime": slurm_minutes(partition.default_time_minutes)
        if partition.default_time_at or not cluster.slurm.bare
        else None,
        "MaxTime": slurm_minutes(partition.max_time_minutes)
        if partition.max_time_at or not cluster.slurm.bare
        else None,
        "DefCpuPerGPU": partition.cpus_per_gpu,
        "DefMemPerGPU": partition.mem_per_gpu_mib,
        "DefMemPerCPU": partition.mem_per_cpu_mib,
        "TRESBillingWeights": billing(partition) if cluster.slurm.slurmdbd_hosts or cluster.slurm.bare else None,
    }
    pairs: list[tuple[str, Value | None]] = [("PartitionName", partition.name)]
    for key, row in FIELDS[FILE, "PartitionName"].items():
        pairs.append((key, derived[key] if key in derived else printed(row, getattr(partition, row.path))))
    return block(FILE, cluster.slurm.release, pairs, partition.options)


def billing(partition: Partition) -> str:
    """TRESBillingWeights; memory is weighed by the GiB."""
    return ",".join(
        f"{name}={weight:g}{'G' if name.lower() == 'mem' else ''}" for name, weight in partition.billing.items()
    )
