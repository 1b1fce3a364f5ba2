"""Words and keys of slurm.conf that exclude or need each other, whatever the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from clustergen.slurmrules.remarks import Outcome, Remark

UNITS = ("cr_cpu", "cr_core", "cr_socket", "cr_memory", "cr_cpu_memory", "cr_core_memory", "cr_socket_memory")
# key → words of it of which two stop the daemons, or appear in their log.
_EXCLUSIVE = {
    "PrologFlags": (("NoHold", "Contain"), ("NoHold", "X11"), ("Serial", "RunInJob")),
    "SlurmdParameters": (("l3cache_as_socket", "numa_node_as_socket"),),
    "LaunchParameters": (("enable_nss_slurm", "disable_send_gids"),),
    "JobAcctGatherParams": (("UsePss", "NoShared"),),
    "SelectTypeParameters": (("CR_ONE_TASK_PER_CORE", "CR_CPU"), ("CR_ONE_TASK_PER_CORE", "CR_CPU_Memory")),
}
_NEVER = ("", "-1", "infinite")
_ONLY_LOGGED = ("SlurmdParameters",)
_NEEDS = {"SlurmSchedLogLevel": "SlurmSchedLogFile", "MCSParameters": "MCSPlugin"}


class Settings(Protocol):
    """The keys that are given, in any case."""

    def __contains__(self, key: object) -> bool: ...

    def text(self, key: str) -> str:
        """The value; empty where the key is not given."""


def words(settings: Settings, key: str) -> list[str]:
    """The words of a list, in lower case and without their values."""
    return [part.strip().partition("=")[0].lower() for part in settings.text(key).split(",")] if key in settings else []


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


def combinations(settings: Settings) -> Iterator[tuple[str, Remark]]:
    """The key that a remark is about, and the remark."""
    for topic in (_exclusive, _one_unit, _needed, _removed, _alone):
        yield from topic(settings)


def _wrong(message: str, hint: str | None = None, does: Outcome = Outcome.STOPS, *, on_key: bool = False) -> Remark:
    return Remark("slurm-value-wrong", message, hint, does, on_key=on_key)


def _exclusive(settings: Settings) -> Iterator[tuple[str, Remark]]:
    for key, pairs in _EXCLUSIVE.items():
        listed = words(settings, key)
        for one, other in pairs:
            if one.lower() not in listed or other.lower() not in listed:
                continue
            message = f"{one} and {other} exclude each other"
            if key in _ONLY_LOGGED:
                yield key, _wrong(f"{message}; Slurm ignores the second", does=Outcome.LOGS)
            else:
                yield key, _wrong(f"{message}; no daemon starts with both")


def _one_unit(settings: Settings) -> Iterator[tuple[str, Remark]]:
    units = [word for word in words(settings, "SelectTypeParameters") if word in UNITS]
    if len(units) > 1:
        message = f"{len(units)} allocation units exclude each other; no daemon starts with more than one"
        yield "SelectTypeParameters", _wrong(message, "write CR_Core_Memory, which suits GPU nodes")


def _needed(settings: Settings) -> Iterator[tuple[str, Remark]]:
    for key, requirement in _NEEDS.items():
        if settings.text(key) not in ("", "0") and requirement not in settings:
            yield key, _wrong(f"'{key}' requires '{requirement}'; no daemon starts without it", on_key=True)


def _removed(settings: Settings) -> Iterator[tuple[str, Remark]]:
    if "FastSchedule" in settings:
        does = Outcome.LOGS if settings.text("FastSchedule").strip() == "1" else Outcome.STOPS
        message = "FastSchedule was removed: slurmctld does not start with 0 or 2, and logs an error for 1"
        yield "FastSchedule", _wrong(message, "remove it; write SlurmdParameters=config_overrides in place of 2", does)


def _alone(settings: Settings) -> Iterator[tuple[str, Remark]]:
    states = words(settings, "HealthCheckNodeState")
    for word in ("START_ONLY", "REBOOT_ONLY"):
        if word.lower() in states and len(states) > 1:
            message = f"{word} excludes all other states; no daemon starts with both"
            yield "HealthCheckNodeState", _wrong(message, f"write {word} alone")
