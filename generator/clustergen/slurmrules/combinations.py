"""Keys of slurm.conf, and words of them, that exclude or need each other, whatever the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clustergen.slurmrules import limits, plugins
from clustergen.slurmrules.conf import Conf, Judgement
from clustergen.slurmrules.remarks import Outcome, Remark

# key → words of it of which two stop the daemons, or appear in their log.
_EXCLUSIVE = {
    "PrologFlags": (("NoHold", "Contain"), ("NoHold", "X11"), ("Serial", "RunInJob")),
    "SlurmdParameters": (("l3cache_as_socket", "numa_node_as_socket"),),
    "LaunchParameters": (("enable_nss_slurm", "disable_send_gids"),),
    "JobAcctGatherParams": (("UsePss", "NoShared"),),
    "SelectTypeParameters": (("CR_ONE_TASK_PER_CORE", "CR_CPU"), ("CR_ONE_TASK_PER_CORE", "CR_CPU_Memory")),
}
_OF_AUTH_SLURM = ("use_client_ids", "disable_sack")
_NEVER = ("", "-1", "infinite")
_NEEDS = {"SlurmSchedLogLevel": "SlurmSchedLogFile", "MCSParameters": "MCSPlugin"}


def slurmdbd_lacks_hash(controller: str, slurmdbd: str) -> bool:
    """True if slurmdbd cannot read the messages of slurmctld, by the HashPlugin of each; it always has hash/k12."""
    return controller not in ("", "hash/k12", slurmdbd)


def power_saving_lacks(text: Callable[[str], str], of_partitions: Iterable[str]) -> list[str]:
    """The keys without which slurmctld turns power saving off, and never starts a node of a cloud.

    `text` gives the value of a key, and `of_partitions` are the SuspendTime of partitions.
    """
    lacking = [key for key in ("ResumeProgram", "SuspendProgram") if not text(key)]
    times = [text("SuspendTime"), *of_partitions]
    return lacking if any(time.lower() not in _NEVER for time in times) else [*lacking, "SuspendTime"]


def combinations(conf: Conf) -> Iterator[Judgement]:
    """All of them, and those of times, numbers and plugins."""
    ours = (_exclusive, _one_unit, _needed, _of_authentication, _removed, _alone)
    for topic in (*ours, *limits.CHECKS, *plugins.CHECKS):
        yield from topic(conf)


def _wrong(
    key: str, message: str, hint: str | None = None, does: Outcome = Outcome.STOPS, *, on_key: bool = False
) -> Judgement:
    return Judgement(key, Remark("slurm-value-wrong", message, hint, does, on_key=on_key))


def _exclusive(conf: Conf) -> Iterator[Judgement]:
    for key, pairs in _EXCLUSIVE.items():
        listed = conf.words(key) if conf.stated(key) is not None else ()
        for one, other in pairs:
            if one.lower() not in listed or other.lower() not in listed:
                continue
            message = f"{one} and {other} exclude each other"
            if key != "SlurmdParameters":
                yield _wrong(key, f"{message}; no daemon starts with both")
            elif conf.has("slurmd-words-exclude"):
                yield _wrong(key, f"{message}; Slurm ignores the second", does=Outcome.LOGS)


def _one_unit(conf: Conf) -> Iterator[Judgement]:
    units = [word for word in conf.words("SelectTypeParameters") if word in plugins.UNITS]
    if len(units) > 1:
        message = f"{len(units)} allocation units exclude each other; no daemon starts with more than one"
        yield _wrong("SelectTypeParameters", message, "write CR_Core_Memory, which suits GPU nodes")


def _needed(conf: Conf) -> Iterator[Judgement]:
    for key, requirement in _NEEDS.items():
        if (conf.stated(key) or "") not in ("", "0") and conf.stated(requirement) is None:
            yield _wrong(key, f"'{key}' requires '{requirement}'; no daemon starts without it", on_key=True)


def _of_authentication(conf: Conf) -> Iterator[Judgement]:
    of_slurm = [word for word in conf.words("AuthInfo") if word in _OF_AUTH_SLURM]
    if of_slurm and "=" not in (conf.stated("AuthInfo") or "") and not conf.text("AuthType").endswith("slurm"):
        message = f"{of_slurm[0]} requires AuthType=auth/slurm; auth/munge takes it for the path of its socket"
        yield _wrong("AuthInfo", message, "remove it")


def _removed(conf: Conf) -> Iterator[Judgement]:
    schedule = conf.stated("FastSchedule")
    if schedule is not None and schedule.strip() == "1":
        message = "FastSchedule=1 no longer has an effect; Slurm logs an error for it"
        remark = Remark("slurm-value-wrong", message, "delete it", Outcome.LOGS, on_key=True, instead="delete")
        yield Judgement("FastSchedule", remark)
    elif schedule is not None:
        message = "FastSchedule was removed: slurmctld does not start with 0 or 2, and logs an error for 1"
        hint = "remove it; write SlurmdParameters=config_overrides in place of 2"
        yield _wrong("FastSchedule", message, hint)


def _alone(conf: Conf) -> Iterator[Judgement]:
    states = conf.words("HealthCheckNodeState")
    for word in ("START_ONLY", "REBOOT_ONLY"):
        if word.lower() in states and len(states) > 1:
            message = f"{word} excludes all other states; no daemon starts with both"
            yield _wrong("HealthCheckNodeState", message, f"write {word} alone")
