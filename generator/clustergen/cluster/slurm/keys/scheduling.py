"""slurm.conf: the order of jobs: scheduler, priority, preemption, and the plan of the fabric."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.row import Row, Value, knows, words
from clustergen.cluster.slurm.scheduling import Preemption, Priority, Scheduler, Topology

_DAY = 1440


def scheduler(cluster: Cluster) -> Iterator[Row]:
    release = cluster.slurm.release
    yield Row("SchedulerType", "sched/backfill", "small jobs start in the gaps before large ones")
    yield Row("SchedulerParameters", words("SchedulerParameters", _scheduler_words(cluster), release))


def _scheduler_words(cluster: Cluster) -> Iterator[str]:
    """Tokens of SchedulerParameters; the manifest's own come last and in the place of ours."""
    spec, release = cluster.of(Scheduler), cluster.slurm.release
    if cluster.slurm.bare:
        yield from spec.parameters
        return
    nodes = sum(len(group.hosts) for group in cluster.compute)
    window = spec.backfill_window_minutes
    derived: dict[str, Value | None] = {
        "bf_continue": None,
        "bf_window": window,
        # One bit of the plan per so many seconds: a longer window gets coarser, so that a pass stays short.
        "bf_resolution": 60 if window <= _DAY else 300 if window <= 3 * _DAY else 600,
        "bf_max_job_test": 500 if nodes <= 128 else 1000 if nodes <= 1024 else 2000,
    }
    if nodes > 1024:
        derived["max_rpc_cnt"] = 128
    preemption = cluster.of(Preemption)
    if preemption.by != "off" and preemption.youngest_first and not knows("slurm.conf", "PreemptParameters", release):
        derived["preempt_youngest_first"] = None
    for text in spec.parameters:
        name, _, value = text.partition("=")
        derived[name] = value or None
    yield from (f"{k}={v}" if v is not None else k for k, v in derived.items())


def priority(cluster: Cluster) -> Iterator[Row]:
    """Fair share, QOS and age count only with accounting in slurmdbd."""
    spec, slurm = cluster.of(Priority), cluster.slurm
    yield Row("PriorityType", "priority/multifactor")
    flags = words("PriorityFlags", [*([] if slurm.bare else ["MAX_TRES"]), *spec.flags], slurm.release)
    yield Row("PriorityFlags", flags, "a job is billed by its dominant resource")
    yield Row("PriorityFavorSmall", "YES" if spec.favor_small else "NO")
    yield Row("PriorityWeightPartition", spec.weights["partition"])
    yield Row("PriorityWeightJobSize", spec.weights["job_size"])
    if slurm.slurmdbd_hosts or slurm.bare:
        yield Row("PriorityDecayHalfLife", spec.half_life.slurm(), "past usage counts half after this time")
        yield Row("PriorityCalcPeriod", spec.calc_period.slurm())
        yield Row("PriorityUsageResetPeriod", spec.usage_reset)
        yield Row("PriorityWeightFairshare", spec.weights["fairshare"])
        yield Row("PriorityWeightQOS", spec.weights["qos"])
        yield Row("PriorityWeightAssoc", spec.weights["assoc"])
        yield Row("PriorityWeightAge", spec.weights["age"])
        yield Row("PriorityMaxAge", spec.max_age.slurm(), "the age factor reaches its maximum at this age")


def preemption(cluster: Cluster) -> Iterator[Row]:
    spec = cluster.of(Preemption)
    if spec.by == "off":
        yield Row("PreemptMode", "GANG" if spec.gang else None)
        return
    yield Row("PreemptType", "preempt/partition_prio" if spec.by == "partition" else "preempt/qos")
    modes = [spec.mode.upper(), *["WITHIN"] * (spec.within and spec.by == "qos"), *["GANG"] * spec.gang]
    yield Row("PreemptMode", ",".join(modes))
    exempt = spec.exempt_time.slurm() if spec.exempt_time else None
    yield Row("PreemptExemptTime", exempt, "younger jobs are not preempted")
    youngest = "youngest_first" if spec.youngest_first else None
    yield Row("PreemptParameters", youngest, "preempts the youngest job first")


def topology(cluster: Cluster) -> Iterator[Row]:
    spec = cluster.of(Topology)
    # topology.yaml takes the place of the plugin's name.
    yield Row("TopologyPlugin", _topology_plugin(cluster) if spec.format != "yaml" else None)


def _topology_plugin(cluster: Cluster) -> str:
    """By the name that the release has for it."""
    if cluster.slurm.topology != "flat":
        return f"topology/{cluster.slurm.topology}"
    names = ("topology/flat", "topology/default")
    return next((name for name in names if has_plugin("TopologyPlugin", name, cluster.slurm.release)), "topology/none")
