"""Times, numbers, ports and files of slurm.conf that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.slurmrules.conf import Conf, Judgement, integer
from clustergen.slurmrules.field_table import WEIGHTS
from clustergen.slurmrules.remarks import Outcome, Remark

BUILT_IN_TRES = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
"""Trackable resources that every slurmdbd counts."""
PRIORITY_WEIGHTS = tuple(WEIGHTS)

_SHORTEST = 60  # seconds; a busy node or switch may miss its pings for this long
_ROOT = ("root", "0")


def _harmful(key: str, message: str, hint: str | None = None, does: Outcome = Outcome.SILENT) -> Judgement:
    return Judgement(key, Remark("slurm-value-harmful", message, hint, does))


def _ignored(
    key: str, message: str, hint: str, does: Outcome = Outcome.LOGS, between: tuple[str, ...] = ()
) -> Judgement:
    return Judgement(key, Remark("slurm-key-ignored", message, hint, does, on_key=True, between=between))


def _beside(key: str, other: str, more: str = "") -> Judgement:
    return _ignored(key, f"'{key}' is ignored because {other} is set{more}", "remove one of them", between=(key, other))


def _timeouts(conf: Conf) -> Iterator[Judgement]:
    silent = conf.number("SlurmdTimeout")
    if silent and silent < _SHORTEST:
        text = f"a node that does not answer for {silent} s is set DOWN, and its jobs are killed"
        yield _harmful("SlurmdTimeout", text, "write SlurmdTimeout=300, the default")
    message, step = integer(conf.text("MessageTimeout")), conf.number("UnkillableStepTimeout")
    if conf.has("unkillable-timeout-checked") and step is not None and message is not None and step < 5 * message:
        text = f"nodes drain with 'Kill task failed' too early; Slurm requires 5 times MessageTimeout, {5 * message}"
        yield _harmful("UnkillableStepTimeout", text, f"write {5 * message} or more, or remove it")
    interval = conf.number("HealthCheckInterval")
    if conf.stated("HealthCheckProgram") is not None and not interval:
        text = "the health check never runs: HealthCheckInterval is 0"
        yield _ignored("HealthCheckProgram", text, "write HealthCheckInterval=300", Outcome.SILENT)
    if conf.knows("HealthCheckTimeout") and interval:
        limit = integer(conf.text("HealthCheckTimeout")) or 60
        if limit >= interval:
            yield _harmful(
                "HealthCheckInterval",
                f"a health check may take {limit} s (HealthCheckTimeout), but the next one starts after {interval} s",
                "raise HealthCheckInterval, or lower HealthCheckTimeout",
            )


def _numbers(conf: Conf) -> Iterator[Judgement]:
    first, last = integer(conf.stated("FirstJobId") or "1"), conf.number("MaxJobId")
    if first is not None and last is not None and first > last:
        message = f"MaxJobId is below FirstJobId {first}; no daemon starts"
        yield Judgement("MaxJobId", Remark("slurm-value-wrong", message))
    size, jobs = conf.number("MaxArraySize"), integer(conf.text("MaxJobCount"))
    if size is not None and jobs is not None and size > jobs:
        message = f"no array of {size} jobs can be submitted: slurmctld keeps {jobs} jobs (MaxJobCount)"
        yield _harmful("MaxArraySize", message, f"write {jobs} or less, or raise MaxJobCount")
    for kind in ("Def", "Max"):
        node, cpu = f"{kind}MemPerNode", f"{kind}MemPerCPU"
        if conf.stated(node) is not None and conf.stated(cpu) is not None:
            yield _beside(cpu, node, "; Slurm logs an error")
    if conf.stated("PropagateResourceLimits") and conf.stated("PropagateResourceLimitsExcept"):
        yield _beside("PropagateResourceLimits", "PropagateResourceLimitsExcept")


def _weights(conf: Conf) -> Iterator[Judgement]:
    first = next((weight for weight in PRIORITY_WEIGHTS if conf.number(weight)), None)
    if first and conf.plugin("PriorityType") != "multifactor":
        hint = "write PriorityType=priority/multifactor"
        hint += "" if conf.stated("PriorityType") else ", the default since 23.11"
        yield _ignored(first, "priority weights have no effect with this PriorityType", hint, Outcome.SILENT)


def _scheduler(conf: Conf) -> Iterator[Judgement]:
    """Numbers of SchedulerParameters."""
    key = "SchedulerParameters"
    values = dict(part.strip().lower().partition("=")[::2] for part in (conf.stated(key) or "").split(","))
    test = integer(values.get("bf_max_job_test")) or 500
    for word in ("bf_max_job_user", "bf_max_job_assoc", "bf_max_job_user_part", "bf_max_job_part"):
        number = integer(values.get(word))
        if number is not None and (number > test or (word == "bf_max_job_part" and number == test)):
            yield _harmful(key, f"{word}={number} has no effect: bf_max_job_test is {test}", does=Outcome.LOGS)
    if integer(values.get("bf_max_job_user")) and integer(values.get("bf_max_job_assoc")):
        yield _harmful(key, "bf_max_job_user is ignored because bf_max_job_assoc is set", does=Outcome.LOGS)


def _ports(conf: Conf) -> Iterator[Judgement]:
    first, slurmd = integer(conf.text("SlurmctldPort").partition("-")[0]), integer(conf.text("SlurmdPort"))
    user = conf.text("SlurmUser").lower() or "root"
    if conf.stated("SlurmctldPort") and first is not None and 0 < first < 1024 and user not in _ROOT:
        message = f"only root can listen on port {first}, but slurmctld runs as {user}"
        yield Judgement("SlurmctldPort", Remark("slurm-value-wrong", message))
    if conf.stated("SrunPortRange") and conf.text("SrunPortRange").count("-") == 1:
        lowest, highest = (integer(text.strip()) for text in conf.text("SrunPortRange").split("-"))
        for daemon, port in (("slurmctld", first), ("slurmd", slurmd)):
            if lowest is not None and highest is not None and port is not None and lowest <= port <= highest:
                message = f"the range contains port {port} of {daemon}"
                yield Judgement("SrunPortRange", Remark("port-twice", message, None, Outcome.SILENT))
    slurmctld_file, slurmd_file = conf.stated("SlurmctldPidFile"), conf.stated("SlurmdPidFile")
    if slurmctld_file and slurmctld_file == slurmd_file:
        message = "slurmctld and slurmd write their process id to the same file"
        yield _harmful("SlurmdPidFile", message, "use a separate file for each")


def _state(conf: Conf) -> Iterator[Judgement]:
    """Slurm's default is a directory of root's."""
    if conf.stated("StateSaveLocation") is not None or not conf.is_beside("slurm.conf"):
        return
    user = (conf.stated("SlurmUser") or "root").lower()
    message = "StateSaveLocation is not set, so slurmctld writes the state of all jobs to /var/spool"
    hint = "write StateSaveLocation=/var/spool/slurmctld, owned by SlurmUser"
    if user not in _ROOT:
        message += f", which {user} cannot write: slurmctld does not start"
    does = Outcome.SILENT if user in _ROOT else Outcome.STOPS
    yield Judgement("StateSaveLocation", Remark("slurm-directory-unsafe", message, hint, does))


CHECKS = (_state, _timeouts, _numbers, _weights, _scheduler, _ports)
