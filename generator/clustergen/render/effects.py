"""The effect of putting a changed file on a node."""

from __future__ import annotations

from typing import Literal, cast

from clustergen.catalogue.effects import severities
from clustergen.records import record

Kind = Literal[
    "none",
    "after",
    "daemon-reload",
    "start",
    "reload",
    "restart",
    "stop",
    "run",
    "sysctl",
    "create",
    "reconfigure",
    "restart-slurmctld",
    "restart-slurmdbd",
    "restart-slurmd",
    "restart-slurm",
    "new-cluster-id",
    "move-state",
    "load-accounts",
    "remount",
    "drain",
    "vacate",
    "reboot",
    "window",
    "cancel-jobs",
    "refuse",
]


@record
class Effect:
    """One kind, and the systemd unit that it is about where the kind has one; of `move-state`, the old directory;
    `restart-slurmctld:again`.
    """

    kind: Kind
    unit: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.unit}" if self.unit else self.kind

    @property
    def severity(self) -> int:
        """Larger is worse for running jobs."""
        return severities()[self.kind]


NONE = Effect("none")
DAEMON_RELOAD = Effect("daemon-reload")
RECONFIGURE = Effect("reconfigure")
SYSCTL = Effect("sysctl")
CREATE = Effect("create")
REBOOT = Effect("reboot")
AGAIN = Effect("restart-slurmctld", "again")
"""Once more, when each slurmd has registered with its new values."""


def read(text: str) -> Effect:
    """The effect that `str` printed, as the lock file has it. ValueError for a kind that nobody knows."""
    kind, _, unit = text.partition(":")
    if kind not in severities():
        raise ValueError(f"no effect is called {kind!r}")
    return Effect(cast("Kind", kind), unit or None)


def reload(unit: str) -> Effect:
    return Effect("reload", unit)


def restart(unit: str) -> Effect:
    return Effect("restart", unit)


def run(unit: str) -> Effect:
    """A oneshot unit that applies its settings to the running system without harm to jobs."""
    return Effect("run", unit)


def remount(unit: str) -> Effect:
    return Effect("remount", unit)


def after(unit: str) -> Effect:
    """A file that may be put only once a unit runs; it needs nothing else."""
    return Effect("after", unit)


def drain(unit: str) -> Effect:
    return Effect("drain", unit)


def window(name: str) -> Effect:
    """Of a file of servers, whose change takes a file system from its clients: the unit that restarts for it, or the
    file system whose mount unit it is.
    """
    return Effect("window", name)
