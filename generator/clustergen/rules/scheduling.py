"""Partitions, priority, preemption, QOS and accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean

_BUILT_IN_QOS = ("normal",)  # slurmdbd makes it
_BUILT_IN_ACCOUNT = "root"


def nodes_in_partitions(cluster: Cluster) -> Iterator[Finding]:
    inside: set[str] = set().union(*(partition.hosts for partition in cluster.partitions))
    for group in cluster.compute:
        outside = [host for host in group.hosts if host not in inside]
        meant = cluster.manifest.nodes[group.index].in_no_partition
        if outside and not meant:
            more = f" and {len(outside) - 1} more" if len(outside) > 1 else ""
            yield Finding(
                "node-in-no-partition",
                ("nodes", group.index, "name"),
                f"'{outside[0]}'{more} is in no partition, so no job reaches it",
                "add it to one, or say in_no_partition: true",
            )
        elif meant and not outside:
            yield Finding(
                "node-in-a-partition",
                ("nodes", group.index, "in_no_partition"),
                f"{group.folded} is in a partition after all",
            )


def default_partition(cluster: Cluster) -> Iterator[Finding]:
    defaults = [name for name, spec in cluster.manifest.slurm.partitions.items() if spec.default]
    for name in defaults[1:]:
        yield Finding(
            "default-partition-twice",
            ("slurm", "partitions", name, "default"),
            f"'{defaults[0]}' is the default partition already",
            "one of them only: Slurm takes the last without a word",
        )
    if not defaults and len(cluster.manifest.slurm.partitions) > 1:
        yield Finding(
            "default-partition-missing",
            ("slurm", "partitions"),
            "no partition is the default: jobs that name none are refused",
            "say default: true in one",
            key=True,
        )


def partitions(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm
    for partition in cluster.partitions:
        path: ManifestPath = ("slurm", "partitions", partition.name)
        spec = partition.spec
        if not partition.hosts:
            yield Finding("partition-empty", (*path, "nodes"), "no compute node is in it")
        longest = partition.max_time_minutes
        if spec.default_time and longest is not None and partition.default_time_minutes > longest:
            yield Finding(
                "partition-times",
                (*path, "default_time"),
                f"{spec.default_time} is longer than max_time, {spec.max_time}",
            )
        if spec.memory_per_cpu and spec.memory_per_gpu:
            yield Finding(
                "partition-memory-twice", (*path, "memory_per_cpu"), "memory is given per GPU or per CPU, not both"
            )
        if spec.min_nodes and spec.max_nodes and spec.min_nodes > spec.max_nodes:
            yield Finding(
                "partition-sizes", (*path, "min_nodes"), f"{spec.min_nodes} is more than max_nodes, {spec.max_nodes}"
            )
        elif spec.min_nodes and spec.min_nodes > len(partition.hosts) > 0:
            yield Finding(
                "partition-sizes",
                (*path, "min_nodes"),
                f"{spec.min_nodes} is more than its {len(partition.hosts)} nodes",
            )
        yield from _known(
            (*path, "qos"), (spec.qos,) if spec.qos else (), [*written.qos, *_BUILT_IN_QOS], "QOS", listed=False
        )
        yield from _known((*path, "allow_qos"), spec.allow_qos, [*written.qos, *_BUILT_IN_QOS], "QOS")
        yield from _known(
            (*path, "allow_accounts"), spec.allow_accounts, [*written.accounts, _BUILT_IN_ACCOUNT], "account"
        )
        yield from _per_gpu(cluster, path, partition.name)


def _per_gpu(cluster: Cluster, path: ManifestPath, name: str) -> Iterator[Finding]:
    """Defaults per GPU that would leave GPUs of a node without CPUs or memory."""
    spec = cluster.manifest.slurm.partitions.get(name)
    if spec is None or not (spec.cpus_per_gpu or spec.memory_per_gpu):
        return
    hosts = next(partition.hosts for partition in cluster.partitions if partition.name == name)
    for kind in {
        group.type.name: group.type for group in cluster.compute if not hosts.isdisjoint(group.hosts)
    }.values():
        if not kind.gpus or not kind.known:
            continue
        cpus, memory = kind.job_cores * kind.threads_per_core, kind.job_memory_mib
        if spec.cpus_per_gpu and spec.cpus_per_gpu * kind.gpus.count > cpus:
            yield Finding(
                "share-per-gpu-too-large",
                (*path, "cpus_per_gpu"),
                f"{kind.gpus.count} GPUs with {spec.cpus_per_gpu} CPUs each need more than the {cpus} of '{kind.name}'",
                f"at most {cpus // kind.gpus.count}, or some GPUs stay idle",
            )
        if spec.memory_per_gpu and spec.memory_per_gpu.mib * kind.gpus.count > memory:
            yield Finding(
                "share-per-gpu-too-large",
                (*path, "memory_per_gpu"),
                f"{kind.gpus.count} GPUs with {spec.memory_per_gpu} each need more than the {memory} MiB of '{kind.name}'",
                f"at most {memory // kind.gpus.count}MiB, or some GPUs stay idle",
            )


def _known(
    path: ManifestPath, names: Iterable[str], known: list[str], what: str, *, listed: bool = True
) -> Iterator[Finding]:
    for index, name in enumerate(names):
        if name not in known:
            code = "qos-unknown" if what == "QOS" else "account-unknown"
            yield Finding(
                code, (*path, index) if listed else path, f"no {what} is called '{name}'", did_you_mean(name, known)
            )


def node_sets(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.hostlist import expand

    written = cluster.manifest.slurm
    used = {item for spec in written.partitions.values() if spec.nodes != "all" for item in expand(spec.nodes)}
    hosts = set(cluster.hosts())
    for name in written.node_sets:
        if name in hosts:
            yield Finding(
                "node-set-is-node",
                ("slurm", "node_sets", name),
                f"'{name}' is a node too: Slurm could not tell them apart",
                key=True,
            )
        elif name not in used:
            yield Finding("node-set-unused", ("slurm", "node_sets", name), f"no partition uses '{name}'", key=True)


def preemption(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm
    path: ManifestPath = ("slurm", "preemption", "by")
    by = written.preemption.by
    lists = [name for name, qos in written.qos.items() if qos.preempt]
    if by == "qos" and not lists:
        yield Finding(
            "preemption-without-lists",
            path,
            "no QOS names another that it may preempt, so nothing ever is",
            "say preempt: [...] in a QOS",
        )
    if by != "qos":
        for name in lists:
            yield Finding(
                "preemption-unused",
                ("slurm", "qos", name, "preempt"),
                f"has no effect: preemption is by {by}" if by != "off" else "has no effect: preemption is off",
                "say slurm.preemption: {by: qos}",
            )
    if by == "partition":
        tiers = {partition.spec.priority_tier or 1 for partition in cluster.partitions}
        if len(tiers) < 2:
            yield Finding(
                "preemption-without-tiers", path, "all partitions have the same priority_tier, so none preempts another"
            )
    for name, spec in written.partitions.items():
        if spec.preempt and by != "partition":
            yield Finding(
                "preemption-unused",
                ("slurm", "partitions", name, "preempt"),
                "has no effect: preemption is not by partition",
                "say slurm.preemption: {by: partition}",
            )
    requeue = written.preemption.mode == "requeue" or any(qos.preempt_mode == "requeue" for qos in written.qos.values())
    if by != "off" and requeue and not written.scheduler.requeue:
        yield Finding(
            "preemption-without-requeue",
            ("slurm", "scheduler", "requeue"),
            "preempted jobs are to be requeued, but requeueing is off: they would be cancelled",
        )
    if by != "off" and written.preemption.mode == "suspend" and cluster.gpu_count:
        yield Finding(
            "preemption-keeps-gpus",
            ("slurm", "preemption", "mode"),
            "a suspended job keeps its GPUs and their memory, so the other job cannot use them",
            "requeue, or cancel",
        )


def priority(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.slurm.priority
    weights = spec.weights
    total = weights.age + weights.fairshare + weights.job_size + weights.partition + weights.qos + weights.assoc
    if total >= 1 << 32:
        yield Finding(
            "priority-weights",
            ("slurm", "priority", "weights"),
            f"the weights sum to {total}; a priority has 32 bits",
            key=True,
        )
    if spec.half_life.seconds == 0 and spec.usage_reset == "NONE":
        yield Finding(
            "priority-never-decays",
            ("slurm", "priority", "half_life"),
            "a half-life of 0 without usage_reset is fatal to slurmctld",
            "say usage_reset: MONTHLY, or a half-life of days",
        )
    period = spec.calc_period.seconds
    if period is not None and not 60 <= period <= 86400:
        yield Finding(
            "priority-period",
            ("slurm", "priority", "calc_period"),
            f"use would be worked out every {spec.calc_period}",
            "a bare number is minutes; 5 is usual",
        )


def qos(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm
    for name, spec in written.qos.items():
        path: ManifestPath = ("slurm", "qos", name)
        yield from _known((*path, "preempt"), spec.preempt, [*written.qos, *_BUILT_IN_QOS], "QOS")
        if name in spec.preempt:
            yield Finding("qos-preempts-itself", (*path, "preempt"), f"'{name}' would preempt itself")
        for field in ("max_tres_per_user", "max_tres_per_job", "group_tres"):
            yield from _tres(cluster, (*path, field), getattr(spec, field))


def _tres(cluster: Cluster, path: ManifestPath, limits: dict[str, int]) -> Iterator[Finding]:
    types = {kind.gpus.gres_type for kind in cluster.gpu_types if kind.gpus}
    known = [
        "billing",
        "cpu",
        "energy",
        "mem",
        "node",
        "gres/gpu",
        *(f"gres/gpu:{name}" for name in types),
        "gres/shard",
        "gres/mps",
    ]
    known += cluster.manifest.slurm.accounting.tres
    for name in limits:
        if name not in known and not name.startswith("license/"):
            yield Finding(
                "tres-unknown", (*path, name), f"'{name}' is not tracked here", did_you_mean(name, known), key=True
            )


def accounts(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm
    for name, spec in written.accounts.items():
        path: ManifestPath = ("slurm", "accounts", name)
        if spec.parent and spec.parent != _BUILT_IN_ACCOUNT and spec.parent not in written.accounts:
            yield Finding(
                "account-unknown",
                (*path, "parent"),
                f"no account is called '{spec.parent}'",
                did_you_mean(spec.parent, written.accounts),
            )
        seen, parent = {name}, spec.parent
        while parent in written.accounts:
            if parent in seen:
                yield Finding("account-cycle", (*path, "parent"), f"'{name}' is above itself")
                break
            seen.add(parent)
            parent = written.accounts[parent].parent
        allowed = [*written.qos, *_BUILT_IN_QOS]
        yield from _known((*path, "qos"), spec.qos, allowed, "QOS")
        yield from _known(
            (*path, "default_qos"), (spec.default_qos,) if spec.default_qos else (), allowed, "QOS", listed=False
        )
        if spec.default_qos and spec.qos and spec.default_qos not in spec.qos:
            yield Finding(
                "qos-not-allowed",
                (*path, "default_qos"),
                f"'{spec.default_qos}' is not among the QOS that the account may use",
            )
        yield from _tres(cluster, (*path, "group_tres"), spec.group_tres)


RULES = (nodes_in_partitions, default_partition, partitions, node_sets, preemption, priority, qos, accounts)
