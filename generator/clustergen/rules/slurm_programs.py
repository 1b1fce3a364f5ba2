"""Programs that Slurm's daemons run: none where users can replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.filesystems import file_system
from clustergen.manifest.base import OptionValue
from clustergen.manifest.mount import Mount
from clustergen.rules.slurm_keys import passthrough_sections
from clustergen.rules.slurm_values import findings
from clustergen.slurmrules import programs

_OF_USERS = ("slurm-compute", "login")
"""Roles of nodes on which users work."""


def options(cluster: Cluster) -> Iterator[Finding]:
    for path, file, block, values, _ in passthrough_sections(cluster):
        for key, value in values.items():
            yield from _of_key(cluster, (*path, key), file, block, key, value, values)
    for index, line in enumerate(cluster.manifest.slurm.lines):
        opening = next(iter(line), "")
        for key, value in line.items():
            block = "" if key == opening else opening
            yield from _of_key(cluster, ("slurm", "lines", index, key), "slurm.conf", block, key, value, line)


def fields(cluster: Cluster) -> Iterator[Finding]:
    program = cluster.manifest.slurm.reboot_program
    yield from _of_key(cluster, ("slurm", "reboot_program"), "slurm.conf", "", "RebootProgram", program, {})


def _of_key(
    cluster: Cluster,
    path: ManifestPath,
    file: str,
    block: str,
    key: str,
    value: OptionValue,
    beside: Mapping[str, OptionValue],
) -> Iterator[Finding]:
    texts = {name.lower(): str(text) for name, text in beside.items()}
    texts["slurmuser"] = cluster.manifest.slurm.user
    yield from findings(
        path,
        programs.remarks(
            file,
            block,
            key,
            str(value),
            text_of=lambda name: texts.get(name.lower(), ""),
            writable=_writable(cluster),
        ),
    )


def _writable(cluster: Cluster) -> Callable[[str], str | None]:
    """A path → the file system of the manifest on which users can write it; None where they cannot."""
    entries = sorted(cluster.manifest.storage.items(), key=lambda item: -len(item[1].mount))
    scratch = cluster.manifest.slurm.scripts.tmpdir

    def reason(path: str) -> str | None:
        if scratch and _is_below(path, scratch):
            return f"and {scratch} holds the scratch directories of jobs"
        for name, entry in entries:
            if _is_below(path, entry.mount):
                shown = f"and the nodes mount '{name}', at {entry.mount}, writable for users"
                return shown if _is_writable(entry) else None
        return None

    return reason


def _is_below(path: str, directory: str) -> bool:
    return f"{path}/".startswith(f"{directory.rstrip('/')}/")


def _is_writable(entry: Mount) -> bool:
    """Whether users have a writable file system: a disk is the administrator's, unless it is job scratch."""
    is_read_only = entry.read_only or "ro" in entry.options
    return not is_read_only and file_system(entry.type).is_shared and any(role in entry.clients for role in _OF_USERS)


RULES = (options, fields)
