"""Effects of replacing packages that a node runs."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from clustergen.catalogue.tables import listed
from clustergen.records import record

_STOPPED = (
    *("*exporter*", "prometheus*", "*alertmanager*", "grafana*", "alloy*", "nvidia-dcgm*", "nvidia-persistenced*"),
    *("sssd.service", "beegfs-helperd.service"),
)
"""Services that are stopped when no tree has them any more: neither jobs, nor data, nor logins depend on them. The last
two do not start without the file that goes with them.
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
