"""slurm.conf: the order of jobs: scheduler, priority, preemption, and the plan of the fabric."""

from __future__ import annotations

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.scheduling import Preemption, Priority, Scheduler, Topology
from clustergen.render.views.slurm.settings import Section, Setting, Value, knows, section, words

FILE = "slurm.conf"
_DAY = 1440


def scheduler(cluster: Cluster) -> Section:
    rows = [
        Setting("SchedulerType", "sched/backfill", "small jobs start in the gaps before large ones"),
        Setting("SchedulerParameters", scheduler_words(cluster)),
        Setting(
            "DependencyParameters",
            words("DependencyParameters", cluster.of(Scheduler).dependency_parameters, cluster.slurm.release),
        ),
    ]
    return section("Scheduler", FILE, cluster.slurm.release, rows)


def scheduler_words(cluster: Cluster) -> str:
    """Tokens of SchedulerParameters; the manifest's own come last and in the place of ours."""
    if cluster.slurm.bare:
        return words("SchedulerParameters", cluster.of(Scheduler).parameters, cluster.slurm.release)
    nodes = sum(len(group.hosts) for group in cluster.compute)
    window = cluster.of(Scheduler).backfill_window_minutes
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
    if (
        preemption.by != "off"
        and preemption.youngest_first
        and not knows(FILE, "PreemptParameters", cluster.slurm.release)
    ):
        derived["preempt_youngest_first"] = None
    for text in cluster.of(Scheduler).parameters:
        name, _, value = text.partition("=")
        derived[name] = value or None
    return words(
        "SchedulerParameters", (f"{k}={v}" if v is not None else k for k, v in derived.items()), cluster.slurm.release
    )


def priority(cluster: Cluster) -> Section:
    """Fair share, QOS and age count only with accounting in slurmdbd."""
    spec = cluster.of(Priority)
    weights = cluster.of(Priority).weights
    rows = [
        Setting("PriorityType", "priority/multifactor"),
        Setting(
            "PriorityFlags",
            words("PriorityFlags", [*([] if cluster.slurm.bare else ["MAX_TRES"]), *spec.flags], cluster.slurm.release),
            "a job is billed by its dominant resource",
        ),
        Setting("PriorityFavorSmall", "YES" if spec.favor_small else "NO"),
        Setting("PriorityWeightPartition", weights["partition"]),
        Setting("PriorityWeightJobSize", weights["job_size"]),
    ]
    if cluster.slurm.slurmdbd_hosts or cluster.slurm.bare:
        rows += [
            Setting("PriorityDecayHalfLife", spec.half_life.slurm(), "past usage counts half after this time"),
            Setting("PriorityCalcPeriod", spec.calc_period.slurm()),
            Setting("PriorityUsageResetPeriod", spec.usage_reset),
            Setting("PriorityWeightFairshare", weights["fairshare"]),
            Setting("PriorityWeightQOS", weights["qos"]),
            Setting("PriorityWeightAssoc", weights["assoc"]),
            Setting("PriorityWeightAge", weights["age"]),
            Setting("PriorityMaxAge", spec.max_age.slurm(), "the age factor reaches its maximum at this age"),
        ]
    return section("Priority", FILE, cluster.slurm.release, rows)


def preemption(cluster: Cluster) -> Section:
    spec = cluster.of(Preemption)
    if spec.by == "off":
        return Section("Preemption", ())
    mode = spec.mode.upper()
    rows = [
        Setting("PreemptType", "preempt/partition_prio" if spec.by == "partition" else "preempt/qos"),
        # Only the gang scheduler wakes a suspended job again.
        Setting("PreemptMode", f"{mode},GANG" if spec.mode == "suspend" else mode),
        Setting("PreemptExemptTime", spec.exempt_time.slurm(), "younger jobs are not preempted")
        if spec.exempt_time
        else None,
        Setting("PreemptParameters", "youngest_first", "preempts the youngest job first")
        if spec.youngest_first
        else None,
    ]
    return section("Preemption", FILE, cluster.slurm.release, rows)


def topology_plugin(cluster: Cluster) -> str:
    """By the name that the release has for it."""
    if cluster.slurm.topology != "flat":
        return f"topology/{cluster.slurm.topology}"
    names = ("topology/flat", "topology/default")
    return next((name for name in names if has_plugin("TopologyPlugin", name, cluster.slurm.release)), "topology/none")


def topology(cluster: Cluster) -> Section:
    spec = cluster.of(Topology)
    rows = [
        # topology.yaml takes the place of the plugin's name.
        Setting("TopologyPlugin", topology_plugin(cluster)) if spec.format != "yaml" else None,
        Setting("TopologyParam", words("TopologyParam", spec.parameters, cluster.slurm.release)),
    ]
    return section("Topology", FILE, cluster.slurm.release, rows)
