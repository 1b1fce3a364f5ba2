"""slurm.conf: node sets, a NodeName line per entry of the manifest, and the partitions."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.cores import slurm_cpu_list
from clustergen.cluster.model import Cluster, NodeGroup, once_per_cluster
from clustergen.cluster.slurm.billing import is_billed
from clustergen.cluster.slurm.keys.devices import gres
from clustergen.cluster.slurm.keys.line import Line, Pairs, line, own_lines
from clustergen.cluster.slurm.keys.printing import printed
from clustergen.cluster.slurm.keys.row import Value
from clustergen.cluster.slurm.model import Partition
from clustergen.hostlist import compress
from clustergen.slurmrules.field_table import FIELDS
from clustergen.units.duration import slurm_minutes

_FILE = "slurm.conf"


def slurm_lines(cluster: Cluster) -> Iterator[Line]:
    """All lines of several keys in slurm.conf, in its order."""
    yield from node_sets(cluster)
    yield from (node_line(cluster, group) for group in cluster.compute)
    yield from (partition_line(cluster, partition) for partition in cluster.slurm.partitions)
    yield from own_slurm_lines(cluster)


def own_slurm_lines(cluster: Cluster) -> Iterator[Line]:
    return own_lines(("slurm", "lines"), cluster.slurm.lines)


def node_sets(cluster: Cluster) -> Iterator[Line]:
    for name, hosts in cluster.slurm.node_sets.items():
        yield line(_FILE, cluster.slurm.release, [("NodeSet", name), ("Nodes", hosts)])


def node_line(cluster: Cluster, group: NodeGroup) -> Line:
    """One entry of the manifest. Of a machine of which nothing is known, only what it is called."""
    node_type = group.type
    of_type, of_entry = node_type.slurm_options, group.slurm_options
    boards = {key.lower() for key in (*of_type, *of_entry)} & {"boards", "socketsperboard"}
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
        ("Gres", gres(node_type)),
        ("Feature", ",".join(dict.fromkeys([*node_type.features, *group.features]))),
        ("Weight", _weight(cluster, group)),
        ("State", group.state),
    ]
    pairs = [*names, *(hardware if node_type.is_resolved else []), *use]
    return line(
        _FILE,
        cluster.slurm.release,
        pairs,
        (("node_types", node_type.name, "slurm_options"), of_type),
        (("nodes", group.index, "slurm_options"), of_entry),
    )


def _weight(cluster: Cluster, group: NodeGroup) -> int | None:
    """Jobs without GPUs go to nodes without GPUs first, where there are both."""
    stated = _stated_weight(group)
    if stated is not None or cluster.slurm.bare:
        return stated
    return (10 if group.type.gpus else 1) if _both_kinds(cluster) else None


def weights_derived(cluster: Cluster) -> bool:
    """True if a node has a Weight that the manifest does not state."""
    return any(_weight(cluster, group) is not None and _stated_weight(group) is None for group in cluster.compute)


def _stated_weight(group: NodeGroup) -> int | None:
    return group.weight if group.weight is not None else group.type.weight


@once_per_cluster
def _both_kinds(cluster: Cluster) -> bool:
    return len({group.type.gpus is not None for group in cluster.compute}) > 1


def partition_line(cluster: Cluster, partition: Partition) -> Line:
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
        "TRESBillingWeights": _billing(partition) if is_billed(cluster) else None,
    }
    pairs: list[tuple[str, Value | None]] = [("PartitionName", partition.name)]
    for key, row in FIELDS[_FILE, "PartitionName"].items():
        pairs.append((key, derived[key] if key in derived else printed(row, getattr(partition, row.path))))
    place = ("slurm", "partitions", partition.name, "options")
    return line(_FILE, cluster.slurm.release, pairs, (place, partition.options))


def _billing(partition: Partition) -> str:
    """TRESBillingWeights; memory is weighed by the GiB."""
    return ",".join(
        f"{name}={weight:g}{'G' if name.lower() == 'mem' else ''}" for name, weight in partition.billing.items()
    )
