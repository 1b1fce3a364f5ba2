"""Programs that Slurm's daemons run: none where users can replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clustergen.catalogue.system_paths import is_below, plain
from clustergen.cluster.entry import Entry
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.cluster.slurm.keys.line import own_lines
from clustergen.cluster.slurm.keys.table import OPTIONS, settings_of
from clustergen.diagnostics import Finding
from clustergen.rules.slurm_values import findings
from clustergen.slurmrules import programs

REQUIRES = "slurm"

_OF_USERS = ("slurm-compute", "login")
"""Roles of nodes on which users work."""


def program_writable(cluster: Cluster) -> Iterator[Finding]:
    """Keys that the manifest sets; those of nodes name no programs."""
    writable = _writable(cluster)
    for file in OPTIONS:
        settings = settings_of(cluster, file)
        for place, row in settings.stated():
            remarks = programs.remarks(file, "", row.key, row.value, text_of=settings.text, writable=writable)
            yield from findings(place, remarks)
    conf = settings_of(cluster, "slurm.conf")
    for line in own_lines(("slurm", "lines"), cluster.slurm.lines):
        opening = next(iter(line.keys))
        for key, value in line.keys.items():
            block = "" if key == opening else opening
            remarks = programs.remarks("slurm.conf", block, key, value, text_of=conf.text, writable=writable)
            yield from findings(line.options[key], remarks)


def _writable(cluster: Cluster) -> Callable[[str], str | None]:
    """A path → the file system of the manifest on which users can write it; None where they cannot."""
    entries = sorted(cluster.storage.items(), key=lambda item: -len(item[1].mount))
    scratch = cluster.of(Scripts).tmpdir

    def reason(path: str) -> str | None:
        place = plain(path)
        if scratch and is_below(place, scratch):
            return f"and {scratch} holds the scratch directories of jobs"
        for name, entry in entries:
            if is_below(place, entry.mount):
                shown = f"and the nodes mount '{name}', at {entry.mount}, writable for users"
                return shown if _is_writable(cluster, entry) else None
        return None

    return reason


def _is_writable(cluster: Cluster, entry: Entry) -> bool:
    """True if users have a writable file system: a disk is the administrator's, unless it is job scratch."""
    is_read_only = entry.read_only or "ro" in entry.options
    users = (group for role in _OF_USERS for group in cluster.with_role(role))
    return not is_read_only and entry.is_shared and any(group.is_client(entry) for group in users)
