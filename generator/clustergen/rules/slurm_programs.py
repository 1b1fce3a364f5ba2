"""Programs that Slurm's daemons run: none where users can replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from clustergen.catalogue.system_paths import is_below, plain
from clustergen.cluster.entry import Entry
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.ground import Timeouts
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.base import OptionValue
from clustergen.manifest.slurm import Slurm
from clustergen.records import replace
from clustergen.rules.slurm_keys import passthrough_sections
from clustergen.rules.slurm_values import findings
from clustergen.slurmrules import programs

_OF_USERS = ("slurm-compute", "login")
"""Roles of nodes on which users work."""


def options(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Those of nodes name no programs."""
    writable = _writable(cluster)
    for path, file, block, values, _ in passthrough_sections(section):
        yield from _of_section(cluster, path, file, values, dict.fromkeys(values, block), writable)
    for index, line in enumerate(section.lines):
        opening = next(iter(line), "")
        blocks = {key: "" if key == opening else opening for key in line}
        yield from _of_section(cluster, ("slurm", "lines", index), "slurm.conf", line, blocks, writable)


def fields(cluster: Cluster) -> Iterator[Finding]:
    values = {"RebootProgram": cluster.of(Timeouts).reboot_program}
    for finding in _of_section(cluster, (), "slurm.conf", values, {}, _writable(cluster)):
        yield replace(finding, path=("slurm", "reboot_program"))


def _of_section(
    cluster: Cluster,
    path: ManifestPath,
    file: str,
    values: Mapping[str, OptionValue],
    blocks: Mapping[str, str],
    writable: Callable[[str], str | None],
) -> Iterator[Finding]:
    """`blocks`: a key → what opens its line, if that is not the key itself."""
    texts = {name.lower(): str(text) for name, text in values.items()}
    texts["slurmuser"] = cluster.slurm.user

    def text_of(name: str) -> str:
        return texts.get(name.lower(), "")

    for key, value in values.items():
        remarks = programs.remarks(file, blocks.get(key, ""), key, str(value), text_of=text_of, writable=writable)
        yield from findings((*path, key), remarks)


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
                return shown if _is_writable(entry) else None
        return None

    return reason


def _is_writable(entry: Entry) -> bool:
    """True if users have a writable file system: a disk is the administrator's, unless it is job scratch."""
    is_read_only = entry.read_only or "ro" in entry.options
    return not is_read_only and entry.is_shared and any(role in entry.clients for role in _OF_USERS)
