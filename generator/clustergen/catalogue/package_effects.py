"""Effects of replacing packages that a node runs, and packages that belong together."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

from clustergen.catalogue.tables import listed, table
from clustergen.records import record

_STOPPED = (
    *("*exporter*", "prometheus*", "*alertmanager*", "grafana*", "alloy*", "nvidia-dcgm*", "nvidia-persistenced*"),
    *("sssd.service", "beegfs-helperd.service", "lnet.service"),
)
"""Services that are stopped when no tree has them any more: neither jobs, nor data, nor logins depend on them. The last
three do not start without the file that goes with them.
"""


@record
class PackageEffect:
    """A row of package_effects.tsv, which its header explains."""

    family: str
    purpose: str
    in_use: str
    replaces: bool
    effect: tuple[str, ...]
    """By the words of `render.effects`."""
    source: str
    note: str


_rows = listed("package_effects.tsv", PackageEffect)


@cache
def of_purpose(purpose: str) -> PackageEffect | None:
    """The row of a purpose; None where its packages are installed beside running jobs."""
    return next((row for row in _rows() if fnmatchcase(purpose, row.purpose)), None)


def is_stopped(unit: str) -> bool:
    """True if a service that an earlier tree started is stopped where the new one lacks it."""
    return any(fnmatchcase(unit, pattern) for pattern in _STOPPED)


@record
class HeldPackages:
    """A row of held_packages.tsv, which its header explains."""

    hold: str
    family: str
    patterns: tuple[str, ...]
    note: str
    source: str


def held_patterns(holds: Iterable[str], family: str) -> tuple[str, ...]:
    """The patterns of held packages on systems of a family."""
    rows = [row for row in table("held_packages.tsv", HeldPackages) if row.family == family]
    return tuple(pattern for hold in holds for row in rows if row.hold == hold for pattern in row.patterns)
