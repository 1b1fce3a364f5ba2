"""Priority and preemption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.scheduling import Preemption, Priority, Scheduler
from clustergen.diagnostics import Finding, ManifestPath, shortened
from clustergen.manifest.slurm import Scheduler as SchedulerSection

REQUIRES = "slurm"

_PREEMPTION: ManifestPath = ("slurm", "preemption")
_DAY = 86_400


def by_qos(cluster: Cluster) -> Iterator[Finding]:
    by = cluster.of(Preemption).by
    lists = [name for name, qos in cluster.of(Associations).qos.items() if qos.preempt]
    if by == "qos" and not lists:
        yield Finding(
            "preemption-without-lists",
            (*_PREEMPTION, "by"),
            "no QOS has a preempt list, so no job is ever preempted",
            "add preempt: […] to a QOS, or set by: partition",
        )
    if (
        by == "qos"
        and lists
        and cluster.slurm.slurmdbd_hosts
        and not {"qos", "all"} & set(cluster.of(Accounting).enforce)
    ):
        yield Finding(
            "limits-not-enforced",
            (*_PREEMPTION, "by"),
            "preemption by QOS has no effect: slurm.accounting.enforce does not contain qos",
            "remove enforce, or add qos to it",
        )
    if by != "qos":
        for name in lists:
            yield Finding(
                "preemption-unused",
                ("slurm", "qos", name, "preempt"),
                "no effect: preemption is off" if by == "off" else "no effect: preemption is by partition",
                "set slurm: {preemption: {by: qos}}",
                key=True,
            )


def qos_preempts_itself(cluster: Cluster) -> Iterator[Finding]:
    """Jobs of a QOS that preempts itself, or those that preempt it, would push each other aside without end."""
    lists = {name: spec.preempt for name, spec in cluster.of(Associations).qos.items()}
    for name, index, circle in _circles(lists):
        other = circle[0]
        if other == name:
            message = f"QOS '{name}' lists itself in preempt, so its jobs would preempt each other"
            hint = f"remove {name} from the list"
        elif name in lists[other]:
            message = (
                f"QOS '{name}' and '{other}' may preempt each other, so their jobs would preempt each other endlessly"
            )
            hint = "let only the more urgent QOS preempt the other"
        else:
            shown = shortened(" → ".join([*circle, other]))
            message = (
                f"the preempt lists of QOS form a cycle: {shown}, so their jobs would preempt each other endlessly"
            )
            hint = f"remove {other} from the list, or break the cycle elsewhere"
        yield Finding("qos-preempts-itself", ("slurm", "qos", name, "preempt", index), message, hint)


def _circles(lists: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int, list[str]]]:
    """Every entry that closes a circle, as QOS and index, and that circle: from the QOS it lists to the one listing it.

    Without these entries there would be no circle. Needs no recursion, however long a chain of QOS is.
    """
    finished: set[str] = set()
    for start in lists:
        trail = {} if start in finished else {start: enumerate(lists[start])}
        while trail:
            name = next(reversed(trail))
            for index, other in trail[name]:
                if other in trail:
                    way = list(trail)
                    yield name, index, way[way.index(other) :]
                elif other in lists and other not in finished:
                    trail[other] = enumerate(lists[other])
                    break
            else:
                finished.add(name)
                del trail[name]


def by_partition(cluster: Cluster) -> Iterator[Finding]:
    by = cluster.of(Preemption).by
    tiers = {
        partition.priority_tier if partition.priority_tier is not None else 1 for partition in cluster.slurm.partitions
    }
    if by == "partition" and len(tiers) < 2:
        yield Finding(
            "preemption-without-tiers",
            (*_PREEMPTION, "by"),
            "no job is ever preempted: there is only one partition"
            if len(cluster.slurm.partitions) == 1
            else "no job is ever preempted: all partitions have the same priority_tier",
            "give partitions that share nodes different values of priority_tier; the higher preempts the lower",
        )
    for partition in cluster.slurm.partitions:
        if partition.preempt and by != "partition":
            yield Finding(
                "preemption-unused",
                ("slurm", "partitions", partition.name, "preempt"),
                "no effect: preemption is off" if by == "off" else "no effect: preemption is by QOS",
                "remove preempt, or set slurm: {preemption: {by: partition}}",
                key=True,
            )


def within(cluster: Cluster) -> Iterator[Finding]:
    preemption, path = cluster.of(Preemption), (*_PREEMPTION, "within")
    if preemption.within and preemption.by != "qos":
        hint = "remove within, or set slurm: {preemption: {by: qos}}"
        yield Finding("preemption-unused", path, "no effect: preemption is not by QOS", hint, key=True)
    elif preemption.within and preemption.gang:
        message = "WITHIN and GANG, which suspend requires, exclude each other; slurmctld starts with one of them"
        yield Finding("slurm-value-wrong", path, message, "remove within, or gang with another mode than suspend")


def preempted_jobs(cluster: Cluster) -> Iterator[Finding]:
    """The fate of preempted jobs: where they cannot go back to the queue, or keep their GPUs."""
    preemption = cluster.of(Preemption)
    if preemption.by == "off":
        return
    modes: list[tuple[ManifestPath, str | None]] = [((*_PREEMPTION, "mode"), preemption.mode)]
    if preemption.by == "qos":
        rows = cluster.of(Associations).qos.items()
        modes += [(("slurm", "qos", name, "preempt_mode"), qos.preempt_mode) for name, qos in rows]
    else:
        modes += [(("slurm", "partitions", one.name, "preempt"), one.preempt) for one in cluster.slurm.partitions]
    if not cluster.of(Scheduler).requeue and any(mode == "requeue" for _, mode in modes):
        yield Finding(
            "preemption-without-requeue",
            ("slurm", "scheduler", "requeue"),
            "preemption requeues jobs, but requeue is false, so preempted jobs would be cancelled",
            "remove requeue: false, or set slurm: {preemption: {mode: cancel}}",
        )
    for path, mode in modes:
        if mode == "suspend" and cluster.gpu_count:
            yield Finding(
                "preemption-keeps-gpus",
                path,
                "a suspended job keeps its GPUs and their memory, so the preempting job cannot use them",
                "write requeue, or cancel",
            )
        elif mode == "suspend" and preemption.mode != "suspend":
            yield Finding(
                "preemption-unused",
                path,
                "suspend works only if slurm.preemption.mode is suspend, which enables the gang scheduling that"
                " resumes the jobs",
                "write requeue, or cancel",
            )


def priority(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.of(Priority)
    path: ManifestPath = ("slurm", "priority")
    total = sum(spec.weights.values())
    if total >= 1 << 32:
        yield Finding(
            "priority-weights",
            (*path, "weights"),
            f"the priority weights sum to {total}; a priority has 32 bits, {(1 << 32) - 1} at most",
            "lower them: only their proportions matter, and thousands to a million are enough",
            key=True,
        )
    if spec.half_life.seconds == 0 and spec.usage_reset == "NONE":
        yield Finding(
            "priority-never-decays",
            (*path, "half_life"),
            "past usage would count forever, until the usage counters overflow",
            "set half_life to some days, or usage_reset: MONTHLY",
        )
    period = spec.calc_period.seconds
    if period is None or not 60 <= period <= _DAY:
        yield Finding(
            "priority-period",
            (*path, "calc_period"),
            f"usage would decay only every {spec.calc_period}" if period is not None else "usage would never decay",
            "set calc_period to 5 (minutes), or to at most a day",
        )


def age(cluster: Cluster) -> Iterator[Finding]:
    """priority_multifactor.c: a job older than PriorityMaxAge has the whole factor, and with 0 every job is."""
    spec = cluster.of(Priority)
    if spec.max_age.seconds == 0 and spec.weights["age"]:
        yield Finding(
            "value-out-of-range",
            ("slurm", "priority", "max_age"),
            "every job would have the whole age factor at once, so waiting would not raise its priority",
            "leave it out for 7 days, or turn the factor off by weights: {age: 0}",
        )


def window(_: Cluster, section: SchedulerSection) -> Iterator[Finding]:
    if section.backfill_window and section.backfill_window.seconds == 0:
        yield Finding(
            "value-out-of-range",
            ("slurm", "scheduler", "backfill_window"),
            "a backfill window of 0 minutes has no effect: Slurm ignores it",
            "remove it, or write 2d",
        )
