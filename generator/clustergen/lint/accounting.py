"""Accounting, priority and preemption of slurm.conf."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site
from clustergen.slurmconf.scalars import seconds_of
from clustergen.slurmrules.conf import integer
from clustergen.slurmrules.limits import BUILT_IN_TRES, PRIORITY_WEIGHTS

_DAY = 86_400


def storage(site: Site) -> Iterator[LintFinding]:
    """Settings that need slurmdbd, or do nothing without it."""
    if site.slurm is None or not site.complete:
        return
    stored = site.plugin("AccountingStorageType")
    if stored == "slurmdbd":
        if site.setting("AccountingStorageHost") is None:
            yield site.note(
                "slurm-key-lacking",
                site.setting("AccountingStorageType") or site.directory.main,
                "AccountingStorageHost is not set, so slurmctld looks for slurmdbd on its own host, and so do commands"
                " on login nodes",
                "write AccountingStorageHost=…",
            )
        return
    if stored in ("", "none"):
        yield from _without_storage(site)


def _without_storage(site: Site) -> Iterator[LintFinding]:
    gather = site.setting("JobAcctGatherType")
    if gather and site.plugin("JobAcctGatherType") != "none":
        yield site.warning(
            "accounting-missing",
            gather,
            "job usage is gathered but not stored; Slurm logs an error",
            "write AccountingStorageType=accounting_storage/slurmdbd, or jobacct_gather/none",
        )
    enforce = site.setting("AccountingStorageEnforce")
    if enforce and enforce.text.lower() not in ("", "0", "none"):
        yield site.warning(
            "accounting-missing",
            enforce,
            "limits cannot be enforced without slurmdbd; Slurm logs an error",
            "write AccountingStorageType=accounting_storage/slurmdbd",
        )
    tres = site.setting("AccountingStorageTRES")
    extra = [word for word in site.words("AccountingStorageTRES") if word not in BUILT_IN_TRES] if tres else []
    if tres and extra:
        yield site.error(
            "accounting-missing",
            tres,
            f"tracking {extra[0]} requires slurmdbd; slurmctld does not start without it",
            "write AccountingStorageType=accounting_storage/slurmdbd",
        )
    if site.plugin("PreemptType") == "qos":
        yield site.warning(
            "accounting-missing",
            site.setting("PreemptType") or site.directory.main,
            "preemption by QOS requires slurmdbd, which stores the QOS",
            "write AccountingStorageType=accounting_storage/slurmdbd",
        )
    flags = site.setting("PriorityFlags")
    if flags and site.has("depth-oblivious-crashes") and "depth_oblivious" in site.words("PriorityFlags"):
        yield site.error(
            "accounting-missing",
            flags,
            "DEPTH_OBLIVIOUS requires slurmdbd; without one slurmctld ends with a segmentation fault",
            "remove it: without slurmdbd there is no fair share to which it applies",
        )
    yield from _qos_without_storage(site)


def _qos_without_storage(site: Site) -> Iterator[LintFinding]:
    for partition in site.partitions:
        for key in ("QOS", "AllowQos", "DenyQos"):
            setting = partition.own_value(key)
            if setting is None or setting.text.lower() in ("all", "none", "n/a"):
                continue
            if site.has("accounting-qos-of-partition"):
                yield site.error(
                    "accounting-missing",
                    setting,
                    f"{key} requires slurmdbd, which stores the QOS; slurmctld does not start without it",
                )
            else:
                yield site.warning(
                    "accounting-missing",
                    setting,
                    f"{key} requires slurmdbd, which stores the QOS and is not configured",
                )


def limits(site: Site) -> Iterator[LintFinding]:
    """Limits that nothing enforces."""
    if site.slurm is None or site.plugin("AccountingStorageType") != "slurmdbd":
        return
    words = site.words("AccountingStorageEnforce")
    if site.plugin("PreemptType") == "qos" and not {"qos", "all"} & set(words):
        yield site.warning(
            "limits-not-enforced",
            site.setting("PreemptType") or site.directory.main,
            "preemption by QOS has no effect unless AccountingStorageEnforce contains qos",
            "write AccountingStorageEnforce=associations,limits,qos",
        )
    for partition in site.partitions:
        setting = partition.own_value("QOS")
        if setting and not {"qos", "all", "limits", "safe"} & set(words):
            yield site.warning(
                "limits-not-enforced",
                setting,
                "the limits of a partition QOS have no effect unless AccountingStorageEnforce contains limits and qos",
                "write AccountingStorageEnforce=associations,limits,qos",
            )
            return


def priority(site: Site) -> Iterator[LintFinding]:
    """The weights of a job's priority."""
    if site.slurm is None:
        return
    stated = map(site.setting, PRIORITY_WEIGHTS)
    weights = [(setting, integer(setting.text) or 0) for setting in stated if setting]
    if site.plugin("PriorityType") != "multifactor":
        return
    if sum(number for _, number in weights) >= 1 << 32:
        setting = max(weights, key=lambda pair: pair[1])[0]
        yield site.warning(
            "priority-weights",
            setting,
            "the sum of the priority weights exceeds 32 bits",
            "lower them: only their proportions matter, and thousands to a million are enough",
        )
    if site.plugin("AccountingStorageType") in ("", "none") and site.complete:
        for setting, number in weights:
            if number and setting.key.lower().endswith(("fairshare", "qos", "assoc", "age")):
                yield site.warning(
                    "accounting-missing",
                    setting,
                    f"{setting.key} requires slurmdbd; Slurm ignores it without one",
                    key=True,
                )


def times(site: Site) -> Iterator[LintFinding]:
    """How fast past use and waiting count."""
    if site.plugin("PriorityType") != "multifactor":
        return
    half, reset = site.setting("PriorityDecayHalfLife"), site.text("PriorityUsageResetPeriod").lower()
    if half and seconds_of(half.text) == 0 and reset in ("", "none"):
        yield site.error(
            "priority-never-decays",
            half,
            "past usage would count forever, and no daemon starts",
            "write a half-life of some days, or PriorityUsageResetPeriod=MONTHLY",
        )
    fades = seconds_of(half.text) if half and half.text.isdigit() else None
    if half and fades is not None and 0 < fades < _DAY:
        message = f"a bare number is in minutes: past usage counts half after {half.text} minutes"
        yield site.warning("priority-period", half, message, f"write {half.text}-0 for {half.text} days")
    period = site.setting("PriorityCalcPeriod")
    every = seconds_of(period.text) if period else None
    if period and every is not None and not 60 <= every <= _DAY:
        often = f"every {every // 60} minutes" if every > _DAY else "never"
        message = f"a bare number is in minutes: usage would decay {often}"
        yield site.warning("priority-period", period, message, "write 5, the default")
    age = site.setting("PriorityMaxAge")
    longest = seconds_of(age.text) if age else None
    if age and longest is not None and 0 <= longest < 3600:
        yield site.warning(
            "priority-period",
            age,
            f"a bare number is in minutes: after {longest // 60} minutes in the queue all jobs have the same age"
            " factor",
            f"write {age.text}-0 for {age.text} days" if age.text.isdigit() else "write days as 7-0",
        )


def _modes(site: Site) -> set[str]:
    return set(site.words("PreemptMode")) if site.setting("PreemptMode") else {"off"}


def preemption(site: Site) -> Iterator[LintFinding]:
    """Who preempts, and what becomes of the others: both, or neither."""
    kind, mode = site.setting("PreemptType"), site.setting("PreemptMode")
    by = site.plugin("PreemptType")
    modes = _modes(site)
    what = modes - {"gang", "within", "priority"}
    place = mode or kind
    if place is None:
        return
    if "suspend" in modes and "gang" not in modes:
        hint = "write PreemptMode=SUSPEND,GANG"
        if _has_gpus(site):
            hint = "write PreemptMode=REQUEUE or CANCEL: a suspended job keeps its GPUs"
        message = "SUSPEND requires GANG, which resumes the jobs; no daemon starts without it"
        yield site.error("slurm-value-wrong", place, message, hint)
    if by in ("", "none") and what - {"off"}:
        yield site.error(
            "slurm-value-wrong",
            place,
            "PreemptMode requires PreemptType; no daemon starts without it",
            "write PreemptType=preempt/partition_prio or PreemptType=preempt/qos",
        )
    if by not in ("", "none") and (not what or what == {"off"}):
        yield site.error(
            "slurm-value-wrong",
            kind or place,
            "PreemptType requires PreemptMode; no daemon starts without it",
            "write PreemptMode=REQUEUE or PreemptMode=CANCEL",
        )


def _has_gpus(site: Site) -> bool:
    return any("gpu" in (node.text("Gres") or "").lower() for node in site.nodes)


def preempted(site: Site) -> Iterator[LintFinding]:
    """The fate of preempted jobs."""
    place = site.setting("PreemptMode") or site.setting("PreemptType")
    modes, requeue = _modes(site), site.setting("JobRequeue")
    if place and "requeue" in modes and requeue and requeue.text.strip() == "0":
        message = "PreemptMode is REQUEUE, but JobRequeue=0, so preempted jobs are cancelled"
        yield site.warning("preemption-without-requeue", requeue, message, "write JobRequeue=1 or PreemptMode=CANCEL")
    if place and {"suspend", "gang"} <= modes and _has_gpus(site):
        message = "a suspended job keeps its GPUs and their memory, so the preempting job cannot use them"
        yield site.warning("preemption-keeps-gpus", place, message, "write PreemptMode=REQUEUE or CANCEL")


def by_partition(site: Site) -> Iterator[LintFinding]:
    """Preemption among partitions, where it does nothing."""
    kind, by = site.setting("PreemptType"), site.plugin("PreemptType")
    if by == "partition_prio" and kind and site.partitions and site.complete:
        tiers = {partition.text("Priority", "PriorityTier") or "1" for partition in site.partitions}
        if len(tiers) < 2:
            message = "all partitions have the same PriorityTier, so no job is ever preempted"
            hint = "raise PriorityTier of the partition whose jobs should preempt others"
            yield site.warning("preemption-without-tiers", kind, message, hint)
    if by not in ("", "none") or (kind or site.setting("PreemptMode")) is None:
        return
    for partition in site.partitions:
        mode = partition.own_value("PreemptMode")
        if mode and mode.text.lower() not in ("off", "none"):
            message = "no effect: preemption is off for the cluster"
            yield site.warning("preemption-unused", mode, message, "write PreemptType=preempt/partition_prio", key=True)
