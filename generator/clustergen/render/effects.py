"""What putting a changed file on a node takes."""

from __future__ import annotations

from typing import Literal, cast

from clustergen.records import record

Kind = Literal[
    "none",  # read at the next use
    "daemon-reload",  # systemctl daemon-reload, and start the unit where it is new
    "reload",  # systemctl reload UNIT
    "restart",  # systemctl restart UNIT
    "run",  # run UNIT, a oneshot that applies settings, now
    "sysctl",  # sysctl --system
    "create",  # systemd-sysusers and systemd-tmpfiles --create: accounts and folders
    "reconfigure",  # scontrol reconfigure
    "restart-slurmctld",
    "restart-slurmdbd",
    "restart-slurmd",  # running jobs live on
    "restart-slurm",  # slurmctld, then slurmd
    "load-accounts",  # sacctmgr
    "remount",  # unmount and mount UNIT; the node is drained first
    "drain",  # drain, apply, run UNIT, resume
    "reboot",  # drain, apply, reboot
    "cancel-jobs",  # reconfiguring cancels the jobs of a partition that goes: not while it has any
    "refuse",  # not while jobs run
]

_ORDER = (
    "none", "daemon-reload", "reload", "run", "sysctl", "create", "load-accounts", "reconfigure", "restart",
    "restart-slurmdbd",
    "restart-slurmctld", "restart-slurmd", "restart-slurm", "remount", "drain", "reboot",
    "cancel-jobs", "refuse",
)  # fmt: skip


@record
class Effect:
    """One kind, and the systemd unit that it is about where the kind has one."""

    kind: Kind
    unit: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.unit}" if self.unit else self.kind

    @property
    def severity(self) -> int:
        """Larger is worse for running jobs."""
        return _ORDER.index(self.kind)


NONE = Effect("none")
DAEMON_RELOAD = Effect("daemon-reload")
RECONFIGURE = Effect("reconfigure")
SYSCTL = Effect("sysctl")
CREATE = Effect("create")
REBOOT = Effect("reboot")


def read(text: str) -> Effect:
    """The effect that `str` printed, as the lock file has it. ValueError for a kind that nobody knows."""
    kind, _, unit = text.partition(":")
    if kind not in _ORDER:
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


def drain(unit: str) -> Effect:
    return Effect("drain", unit)
