"""Partitions and node sets: who is in them, what their jobs may ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.roles import COMPUTE
from clustergen.cluster.slurm.model import Partition
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.hostlist import compress, expand, span_of
from clustergen.manifest.model import Manifest
from clustergen.manifest.partitions import Partition as PartitionSpec
from clustergen.manifest.slurm import Slurm

REQUIRES = "slurm"

_PARTITIONS: ManifestPath = ("slurm", "partitions")
_WORDS = ("all", "none")


def nodes_in_partitions(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    inside: set[str] = set().union(*(partition.hosts for partition in cluster.slurm.partitions))
    complete = _all_known(cluster, section)
    for group in cluster.compute:
        outside = [host for host in group.hosts if host not in inside]
        if outside and complete and not group.in_no_partition:
            several = len(outside) > 1
            yield Finding(
                "node-in-no-partition",
                ("nodes", group.index, "name"),
                f"{compress(outside)} {'are' if several else 'is'} in no partition, so no job runs there",
                "add it to a partition, or set in_no_partition: true"
                if not several
                else "add them to a partition, or set in_no_partition: true",
                at=span_of(group.entry, outside[0]),
            )
        elif group.in_no_partition and len(outside) < len(group.hosts):
            host = next(host for host in group.hosts if host in inside)
            name = next(partition.name for partition in cluster.slurm.partitions if host in partition.hosts)
            yield Finding(
                "node-in-a-partition",
                ("nodes", group.index, "in_no_partition"),
                f"'{host}' is in partition '{name}', so jobs run on it despite in_no_partition",
                f"remove it from '{name}', or remove in_no_partition",
            )


def gpu_node_runs_jobs(cluster: Cluster, section: Manifest) -> Iterator[Finding]:
    """Nodes with GPUs that have the role slurm-compute although the manifest states others only."""
    for group in cluster.compute:
        stated = section.nodes[group.index].roles
        if stated is not None and COMPUTE not in stated:
            yield Finding(
                "gpu-node-runs-jobs",
                ("nodes", group.index, "roles"),
                f"{group.folded} also runs jobs, as the type has GPUs: {COMPUTE} is added to these roles",
                f"write roles: [{', '.join(group.roles)}] to confirm that, or add in_no_partition: true"
                " if no job is to run there",
                key=True,
            )


def _all_known(cluster: Cluster, section: Slurm) -> bool:
    """True if every name in the partitions is known; a misspelt one probably means a node that seems left out."""
    names = {*cluster.hosts(), *section.node_sets}
    lists = [spec.nodes for spec in section.partitions.values() if spec.nodes not in _WORDS]
    return all(names.issuperset(expand(text)) for text in [*lists, *section.node_sets.values()])


def default_partition(cluster: Cluster, section: Mapping[str, PartitionSpec]) -> Iterator[Finding]:
    defaults = [name for name, spec in section.items() if spec.default]
    for name in defaults[1:]:
        yield Finding(
            "default-partition-twice",
            (*_PARTITIONS, name, "default"),
            f"partition '{defaults[0]}' is already the default",
            "set default: true in one partition; Slurm would silently use the last",
        )
    if section and not defaults and (len(section) > 1 or cluster.slurm.bare):
        yield Finding(
            "default-partition-missing",
            _PARTITIONS,
            "no partition is the default, so jobs submitted without --partition are rejected",
            "set default: true in one partition",
            key=True,
        )


def partition_values(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    complete = _all_known(cluster, section)
    for name, spec in section.partitions.items():
        path: ManifestPath = (*_PARTITIONS, name)
        if spec.max_time and spec.max_time.seconds == 0:
            yield Finding(
                "time-limit-zero",
                (*path, "max_time"),
                "with max_time 0, jobs that request a time limit stay pending with reason PartitionTimeLimit, and"
                " others are"
                " killed as soon as they start",
                "write unlimited for no limit, or state: INACTIVE to reject jobs",
            )
        elif spec.default_time and spec.max_time and spec.default_time > spec.max_time:
            yield Finding(
                "partition-times",
                (*path, "default_time"),
                f"default_time {spec.default_time} is longer than max_time {spec.max_time}",
                f"write default_time: {spec.max_time} or less, or a longer max_time",
            )
        yield from _exclusive(path, spec)
    for partition in cluster.slurm.partitions if complete else ():
        yield from _sizes((*_PARTITIONS, partition.name), partition)


def _exclusive(path: ManifestPath, spec: PartitionSpec) -> Iterator[Finding]:
    """Fields of which Slurm uses one."""
    for code, names in (
        ("partition-memory-twice", ("memory_per_gpu", "memory_per_cpu", "memory_per_node")),
        ("partition-memory-twice", ("max_memory_per_cpu", "max_memory_per_node")),
        ("slurm-key-ignored", ("allow_accounts", "deny_accounts")),
        ("slurm-key-ignored", ("allow_qos", "deny_qos")),
    ):
        both = [name for name in names if getattr(spec, name)]
        if len(both) > 1:
            message = f"{both[0]} and {both[1]} exclude each other"
            yield Finding(code, (*path, both[1]), message, f"remove {both[0]} or {both[1]}")


def _sizes(path: ManifestPath, partition: Partition) -> Iterator[Finding]:
    smallest, largest, available = partition.min_nodes, partition.max_nodes, len(partition.hosts)
    nodes = "1 node" if available == 1 else f"{available} nodes"
    if largest and largest > available > 0:
        yield Finding(
            "limit-above-cluster",
            (*path, "max_nodes"),
            f"max_nodes is {largest}, but partition '{partition.name}' has {nodes}, so nothing is limited",
            f"write max_nodes: {available} or less, or remove it",
        )
    if not smallest:
        return
    if largest and smallest > largest:
        yield Finding(
            "partition-sizes",
            (*path, "min_nodes"),
            f"min_nodes {smallest} is larger than max_nodes {largest}, so no job size is allowed",
        )
    elif smallest > available > 0:
        yield Finding(
            "partition-sizes",
            (*path, "min_nodes"),
            f"min_nodes is {smallest}, but partition '{partition.name}' has {nodes}, so no job ever starts",
            f"write min_nodes: {available} or less",
        )


def share_per_gpu_too_large(cluster: Cluster, section: Mapping[str, PartitionSpec]) -> Iterator[Finding]:
    """Defaults per GPU that would leave GPUs of a node without CPUs or memory."""
    hosts_of = {partition.name: partition.hosts for partition in cluster.slurm.partitions}
    for name, spec in section.items():
        path = (*_PARTITIONS, name)
        kinds = {group.type.name: group.type for group in cluster.compute if hosts_of[name].intersection(group.hosts)}
        for kind in kinds.values():
            if not kind.gpus or not kind.is_resolved:
                continue
            count, cpus, memory = kind.gpus.gres_count, kind.job_cores * kind.threads_per_core, kind.job_memory_mib
            usable = min(cpus, spec.max_cpus_per_node or cpus)
            if spec.cpus_per_gpu and (fit := usable // spec.cpus_per_gpu) < count:
                limit = f" (max_cpus_per_node: {usable})" if usable < cpus else ""
                yield Finding(
                    "share-per-gpu-too-large",
                    (*path, "cpus_per_gpu"),
                    f"node type '{kind.name}' has {usable} CPUs for jobs{limit}, enough for {fit} of its {count} GPUs"
                    " at"
                    f" {spec.cpus_per_gpu} each",
                    f"set at most {usable // count}, so that no GPU stays idle",
                )
            if spec.memory_per_gpu and (fit := memory // max(1, spec.memory_per_gpu.mib)) < count:
                yield Finding(
                    "share-per-gpu-too-large",
                    (*path, "memory_per_gpu"),
                    f"node type '{kind.name}' has {_gib(memory)} for jobs, enough for {fit} of its {count} GPUs at"
                    f" {spec.memory_per_gpu} each",
                    f"set at most {_gib(memory // count)}, so that no GPU stays idle",
                )


def _gib(mib: int) -> str:
    """An amount as a manifest states it, rounded down."""
    return f"{mib >> 10}GiB" if mib >= 1024 else f"{mib}MiB"


def node_sets(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    used = {item for spec in section.partitions.values() if spec.nodes not in _WORDS for item in expand(spec.nodes)}
    hosts = set(cluster.hosts())
    is_readable = bool(section.node_sets) and _all_known(cluster, section)
    for name in section.node_sets:
        path: ManifestPath = ("slurm", "node_sets", name)
        if name in hosts:
            yield Finding(
                "node-set-is-node",
                path,
                f"'{name}' is also the name of a node, so its meaning in a partition is ambiguous",
                "rename the node set",
                key=True,
            )
        elif name not in used and name.lower() != "all" and is_readable:
            yield Finding(
                "node-set-unused",
                path,
                f"no partition uses node set '{name}'",
                f"add nodes: {name} to a partition, or remove the node set",
                key=True,
            )


def reserved_names(cluster: Cluster) -> Iterator[Finding]:
    """Slurm takes PartitionName=DEFAULT as defaults of later lines, and ALL as all nodes."""
    for name in (partition.name for partition in cluster.slurm.partitions):
        if name.lower() == "default":
            yield Finding(
                "name-reserved",
                ("slurm", "partitions", name),
                f"'{name}' cannot be the name of a partition",
                "rename it: Slurm reads PartitionName=DEFAULT as defaults for the lines below; for the default"
                " partition"
                " set default: true",
                key=True,
            )
    for name in cluster.slurm.node_sets:
        if name.lower() == "all":
            yield Finding(
                "name-reserved",
                ("slurm", "node_sets", name),
                f"'{name}' cannot be the name of a node set",
                "rename it: in a partition, all means every node that runs slurmd",
                key=True,
            )
