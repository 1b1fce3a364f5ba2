"""Changes: edits, the jobs that notice, and how the new value shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from effects.configuration import RELEASES, Edit

Check = tuple[str, str, str]
"""Who looks (`root`, `alice`, `bob`, or `maps` for loaded plugins), the command, and a pattern of its output."""

GPU_JOBS = {
    "batch": "-w n1 -n1 -t 60 --gres=gpu:h100:1",
    "pending": "-w n1 -t 5 --exclusive --gres=gpu:h100:1",
}
ANY_GPU_JOBS = {"batch": "-w n1 -n1 -t 60 --gres=gpu:1", "pending": "-w n1 -t 5 --exclusive --gres=gpu:1"}


@dataclass(frozen=True)
class Change:
    """One change of a running cluster."""

    name: str
    new: tuple[Edit, ...]
    checks: tuple[Check, ...] = ()
    old: tuple[Edit, ...] = ()
    """Edits of the configuration that the cluster starts with; `new` comes on top."""
    releases: tuple[str, ...] = RELEASES
    database: bool = False
    jobs: Mapping[str, str | None] = field(default_factory=dict)
    """Other options of the jobs; None leaves a job out."""
    submit: Mapping[str, str] = field(default_factory=dict)
    """User → a command beside the jobs; that of root comes before them."""
    before: str = ""
    """A command that runs before the daemons start."""
    after_database: str = ""
    nodes: tuple[str, ...] = ("n1", "n2", "n3", "n4")
    removes: tuple[str, ...] = ()
    """Nodes that Slurm no longer knows afterwards."""
    cgroups: bool = False
    """True: the daemons need a hierarchy of cgroup v1."""
    hand: tuple[str, str] | None = None
    """The manual step of the verdict: an action of `cluster` and its object."""
    instead: tuple[tuple[str, str], ...] = ()
    """Steps in place of the verdict's: what a command of sacctmgr does, of which only the manifest knows."""
    new_job: str | None = "-w n3 -n1 -t1"
    """Options of a job that is submitted afterwards; None where the change is that none may run."""
    settle: float = 2.5
    finish: float = 40
    accepts: str = ""
    """Why a job that does not complete is no fault of the verdict."""


def config(key: str, value: str) -> Check:
    """A line of `scontrol show config`."""
    return ("root", "scontrol show config", rf"(?i)^{key}\s*=\s*{value}")


def option_of(key: str, value: object) -> Check:
    """The whole value of an option, in any case."""
    return config(re.escape(key), re.escape(str(value)) + r"\s*$")


def node_of(pattern: str, name: str = "n1") -> Check:
    return ("root", f"scontrol -d show node {name}", pattern)


def node_without(key: str, name: str = "n1") -> Check:
    return ("root", f"scontrol show node {name} | grep -c {key}= || true", r"^0$")


def partition_of(pattern: str, name: str = "batch") -> Check:
    return ("root", f"scontrol show partition {name}", pattern)


def loaded(program: str, library: str, count: str = "[1-9]") -> Check:
    """So many processes of the program have a plugin loaded; `0` for none."""
    return ("maps", f"{program} {library}", f"^{count}/")


def by(user: str, command: str, pattern: str) -> Check:
    return (user, command, pattern)
