"""Words and keys of slurm.conf that exclude or need each other, whatever the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from clustergen.slurmrules.remarks import Outcome, Remark

UNITS = ("cr_cpu", "cr_core", "cr_socket", "cr_memory", "cr_cpu_memory", "cr_core_memory", "cr_socket_memory")
# key → words of it of which two stop the daemons, or are told in their log.
_EXCLUSIVE = {
    "PrologFlags": (("NoHold", "Contain"), ("NoHold", "X11"), ("Serial", "RunInJob")),
    "SlurmdParameters": (("l3cache_as_socket", "numa_node_as_socket"),),
    "LaunchParameters": (("enable_nss_slurm", "disable_send_gids"),),
    "JobAcctGatherParams": (("UsePss", "NoShared"),),
    "SelectTypeParameters": (("CR_ONE_TASK_PER_CORE", "CR_CPU"), ("CR_ONE_TASK_PER_CORE", "CR_CPU_Memory")),
}
_ONLY_LOGGED = ("SlurmdParameters",)
_NEEDS = {"SlurmSchedLogLevel": "SlurmSchedLogFile", "MCSParameters": "MCSPlugin"}


class Given(Protocol):
    """The keys that are given, in any case."""

    def __contains__(self, key: object) -> bool: ...

    def text(self, key: str) -> str:
        """The value; empty where the key is not given."""

    def words(self, key: str) -> list[str]:
        """The words of a list, in lower case and without their values."""


def combinations(given: Given) -> Iterator[tuple[str, Remark]]:
    """The key that a remark is about, and the remark."""
    for topic in (_exclusive, _one_unit, _needed, _gone, _alone):
        yield from topic(given)


def _wrong(message: str, hint: str | None = None, does: Outcome = Outcome.STOPS, *, on_key: bool = False) -> Remark:
    return Remark("slurm-value-wrong", message, hint, does, on_key=on_key)


def _exclusive(given: Given) -> Iterator[tuple[str, Remark]]:
    for key, pairs in _EXCLUSIVE.items():
        words = given.words(key)
        for one, other in pairs:
            if one.lower() not in words or other.lower() not in words:
                continue
            message = f"{one} and {other} exclude each other"
            if key in _ONLY_LOGGED:
                yield key, _wrong(f"{message}; Slurm ignores the second", does=Outcome.LOGS)
            else:
                yield key, _wrong(f"{message}; no daemon starts with both")


def _one_unit(given: Given) -> Iterator[tuple[str, Remark]]:
    units = [word for word in given.words("SelectTypeParameters") if word in UNITS]
    if len(units) > 1:
        message = f"one unit is handed out, not {len(units)}; no daemon starts with several"
        yield "SelectTypeParameters", _wrong(message, "CR_Core_Memory is right for GPU nodes")


def _needed(given: Given) -> Iterator[tuple[str, Remark]]:
    for key, wanted in _NEEDS.items():
        if given.text(key) not in ("", "0") and wanted not in given:
            yield key, _wrong(f"'{key}' without '{wanted}' stops the daemons", on_key=True)


def _gone(given: Given) -> Iterator[tuple[str, Remark]]:
    if "FastSchedule" in given:
        does = Outcome.LOGS if given.text("FastSchedule").strip() == "1" else Outcome.STOPS
        message = "FastSchedule is gone: 0 and 2 stop slurmctld, 1 is an error in its log"
        yield "FastSchedule", _wrong(message, "delete it; what 2 did is SlurmdParameters=config_overrides", does)


def _alone(given: Given) -> Iterator[tuple[str, Remark]]:
    states = given.words("HealthCheckNodeState")
    for word in ("START_ONLY", "REBOOT_ONLY"):
        if word.lower() in states and len(states) > 1:
            message = f"{word} excludes all other states; no daemon starts with both"
            yield "HealthCheckNodeState", _wrong(message, "it alone")
