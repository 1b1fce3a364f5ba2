"""slurm.conf: node sets, a NodeName line per entry of the manifest, and the partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from clustergen.cluster.cores import slurm_cpu_list
from clustergen.cluster.model import Cluster, NodeGroup, once_per_cluster
from clustergen.cluster.slurm.billing import is_billed
from clustergen.cluster.slurm.jobs import Resources
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
    for group in cluster.compute:
        yield from node_lines(cluster, group)
    yield from (partition_line(cluster, partition) for partition in cluster.slurm.partitions)
    yield from own_slurm_lines(cluster)


def own_slurm_lines(cluster: Cluster) -> Iterator[Line]:
    return own_lines(("slurm", "lines"), cluster.slurm.lines)


def node_sets(cluster: Cluster) -> Iterator[Line]:
    for name, hosts in cluster.slurm.node_sets.items():
        yield line(_FILE, cluster.slurm.release, [("NodeSet", name), ("Nodes", hosts)])


def node_lines(cluster: Cluster, group: NodeGroup) -> Iterator[Line]:
    """One entry of the manifest; a line for each Weight where its nodes spread jobs over racks."""
    ranks = spread_ranks(cluster)
    base = _weight(cluster, group)
    if not ranks:
        yield _node_line(cluster, group, group.folded, group.addresses, base)
        return
    of_rank: dict[int, list[int]] = {}
    for place, host in enumerate(group.hosts):
        of_rank.setdefault(ranks.get(host, 0), []).append(place)
    for rank in sorted(of_rank):
        places = of_rank[rank]
        names = compress([group.hosts[place] for place in places])
        addresses = tuple(group.addresses[place] for place in places) if group.addresses else ()
        yield _node_line(cluster, group, names, addresses, (1 if base is None else base) * spread_step(cluster) + rank)


def _node_line(cluster: Cluster, group: NodeGroup, names: str, addresses: tuple[str, ...], weight: int | None) -> Line:
    """Of a machine of which nothing is known, only what it is called."""
    node_type = group.type
    of_type, of_entry = node_type.slurm_options, group.slurm_options
    boards = {key.lower() for key in (*of_type, *of_entry)} & {"boards", "socketsperboard"}
    named: Pairs = [("NodeName", names), ("NodeAddr", compress(addresses))]
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
        ("Weight", weight),
        ("State", group.state),
    ]
    pairs = [*named, *(hardware if node_type.is_resolved else []), *use]
    return line(
        _FILE,
        cluster.slurm.release,
        pairs,
        (("node_types", node_type.name, "slurm_options"), of_type),
        (("nodes", group.index, "slurm_options"), of_entry),
    )


def _weight(cluster: Cluster, group: NodeGroup) -> int | None:
    """Jobs without GPUs go to nodes without GPUs first, where there are both."""
    stated = stated_weight(group)
    if stated is not None or cluster.slurm.bare:
        return stated
    return (10 if group.type.gpus else 1) if _both_kinds(cluster) else None


def weights_derived(cluster: Cluster) -> bool:
    """True if a node has a Weight that the manifest does not state."""
    return any(_weight(cluster, group) is not None and stated_weight(group) is None for group in cluster.compute)


def stated_weight(group: NodeGroup) -> int | None:
    return group.weight if group.weight is not None else group.type.weight


@once_per_cluster
def spread_ranks(cluster: Cluster) -> Mapping[str, int]:
    """Compute node → its number among those of its weight in its rack, from 0; empty unless jobs spread over racks.

    Slurm allocates nodes of a lower Weight first: the first node of each rack, then the second of each.
    """
    if not cluster.of(Resources).spread_racks:
        return {}
    base = {host: _weight(cluster, group) for group in cluster.compute for host in group.hosts}
    ranks: dict[str, int] = {}
    for rack in cluster.racks:
        count: Counter[int | None] = Counter()
        for host in rack.hosts:
            if host in base:
                ranks[host] = count[base[host]]
                count[base[host]] += 1
    return ranks


def spread_step(cluster: Cluster) -> int:
    """The factor of stated and derived weights that leaves room for the ranks: a power of ten above the highest."""
    return int(10 ** len(str(max(spread_ranks(cluster).values(), default=0))))


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
