"""The order of jobs as resolved: backfill, priority, preemption and topology."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Options
from clustergen.manifest import slurm as manifest
from clustergen.records import copied, record
from clustergen.units import Duration

_DAY = 1440
_BALANCE = {"age": 1000, "fairshare": 100000, "job_size": 1000, "partition": 10000, "qos": 50000, "assoc": 0}
"""Each factor is between 0 and 1, so the order of the weights decides."""


@record
class Scheduler:
    """Backfill and the main scheduler. `parameters`: further tokens of SchedulerParameters."""

    parameters: tuple[str, ...]
    backfill_window_minutes: int  # bf_window
    requeue: bool  # JobRequeue
    max_jobs: int  # MaxJobCount


def resolve_scheduler(section: manifest.Scheduler, cluster: Cluster) -> Scheduler:
    """Backfill looks ahead by the longest time limit, a day at least and a week at most."""
    limits = [partition.max_time_minutes for partition in cluster.slurm.partitions]
    longest = max((7 * _DAY if limit is None else limit for limit in limits), default=_DAY)
    stated = section.backfill_window
    window = (stated.minutes or 7 * _DAY) if stated else min(7 * _DAY, max(_DAY, longest))
    return copied(Scheduler, section, backfill_window_minutes=window, max_jobs=section.max_jobs or 50000)


@record
class Priority:
    """Multifactor priority."""

    half_life: Duration  # PriorityDecayHalfLife
    calc_period: Duration
    max_age: Duration
    usage_reset: str  # PriorityUsageResetPeriod
    flags: tuple[str, ...]
    favor_small: bool
    weights: Mapping[str, int]  # factor → weight


def resolve_priority(section: manifest.Priority, _: Cluster) -> Priority:
    """Once a weight above 0 is stated, the others are Slurm's default of 0: a part of a balance says nothing."""
    stated = {name: weight for name in _BALANCE if (weight := getattr(section.weights, name)) is not None}
    weights = (dict.fromkeys(_BALANCE, 0) if any(stated.values()) else _BALANCE) | stated
    return copied(Priority, section, weights=weights)


@record
class Preemption:
    """Which jobs can preempt which others. `by`: off, partition or qos."""

    by: str
    mode: str  # PreemptMode
    within: bool
    gang: bool
    exempt_time: Duration | None  # PreemptExemptTime; None: Slurm's own default
    youngest_first: bool


def resolve_preemption(section: manifest.Preemption, _: Cluster) -> Preemption:
    """Only the gang scheduler wakes a suspended job again."""
    suspends = section.by != "off" and section.mode == "suspend"
    return copied(Preemption, section, gang=suspends if section.gang is None else section.gang)


@record
class Topology:
    """Blocks and file of the topology plugin; `lines` replace the rendered ones."""

    block_sizes: tuple[int, ...]
    blocks: Mapping[str, str]  # name → host list
    format: str  # conf or yaml
    lines: tuple[Options, ...]
