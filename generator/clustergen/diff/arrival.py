"""Slurm in a cluster that works without it: what it ends on nodes that stay."""

from __future__ import annotations

from collections.abc import Iterable

from clustergen.diff.change import Change, folded
from clustergen.records import record
from clustergen.slurmconf.scalars import hosts_of

_ENDING = ("/etc/slurm/epilog.d/20-strays", "/etc/slurm/prolog.d/30-gpu")
"""Scripts around jobs that end other processes of users."""


@record
class Arrival:
    """Nodes by what they no longer allow, as folded host lists; empty for none."""

    without_job: str = ""
    """Processes of users that belong to no job end."""
    without_login: str = ""
    """Only users with a job may log in; the file that says so comes once slurmd runs."""


def arrival(changes: Iterable[Change]) -> Arrival:
    """Of the changes that bring Slurm."""
    added = [change for change in changes if change.kind == "file" and change.new is not None]
    return Arrival(
        _nodes(change for change in added if change.file in _ENDING),
        _nodes(change for change in added if change.effect.kind == "after"),
    )


def _nodes(changes: Iterable[Change]) -> str:
    return folded(host for change in changes for host in hosts_of(change.nodes or ""))
