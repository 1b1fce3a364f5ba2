"""Priority, preemption, QOS and accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean

_BUILT_IN_QOS = ("normal",)  # slurmdbd makes it
_BUILT_IN_ACCOUNT = "root"


def partition_limits(cluster: Cluster) -> Iterator[Finding]:
    """QOS and accounts that partitions name."""
    written = cluster.manifest.slurm
    qos = [*written.qos, *_BUILT_IN_QOS]
    for name, spec in written.partitions.items():
        path: ManifestPath = ("slurm", "partitions", name)
        yield from _known((*path, "qos"), (spec.qos,) if spec.qos else (), qos, "QOS", listed=False)
        yield from _known((*path, "allow_qos"), spec.allow_qos, qos, "QOS")
        yield from _known(
            (*path, "allow_accounts"), spec.allow_accounts, [*written.accounts, _BUILT_IN_ACCOUNT], "account"
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


RULES = (partition_limits, preemption, priority, qos, accounts)
