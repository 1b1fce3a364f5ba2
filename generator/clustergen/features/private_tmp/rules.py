"""Directories of each job's own: what the release can make private, and what a job would lose sight of."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.system_paths import is_below, nearest, plain, system_paths
from clustergen.cluster.directories import CLOSED, TEMPORARY, owner, paths_of, refusal, whose, writers
from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.job_site import visible
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.private_tmp.resolved import PrivateTmp
from clustergen.records import record

_PATH: ManifestPath = ("slurm", "private_tmp")
_DEFAULT = {"/tmp", "/dev/shm"}

_HINT = "write /tmp, /var/tmp, /dev/shm, or a directory on a local disk of storage"


def too_new(cluster: Cluster, spec: PrivateTmp) -> Iterator[Finding]:
    differs = {plain(directory) for directory in spec.directories} != _DEFAULT
    for name, key, is_used in (("directories", "Dirs", differs), ("shared", "Shared", spec.shared)):
        row = slurm.key("job_container.conf", key)
        if is_used and row is not None and row.state(cluster.slurm.release) == "too-new":
            yield Finding(
                "slurm-feature-too-new",
                (*_PATH, name),
                f"{key} of job_container.conf requires Slurm {row.since} or newer; this is {cluster.slurm.release}",
                "remove it",
            )


def private(cluster: Cluster, spec: PrivateTmp) -> Iterator[Finding]:
    """Directories that a job would find empty although the node, or the job, needs what is in them."""
    directories = [plain(directory) for directory in spec.directories]
    for index, directory in enumerate(directories):
        path: ManifestPath = (*_PATH, "directories", index)
        hidden = [each for each in _used(cluster) if is_below(each.place, directory)]
        entry = next((name for name, mount in _mounts(cluster) if is_below(plain(mount), directory)), None)
        without = [group for group in cluster.compute if not _is_on_disk(cluster, group, directory)]
        if reason := _owner(directory):
            yield Finding("path-of-system", path, f"{reason}: jobs would see an empty directory there", _HINT)
        elif entry:
            message = f"storage '{entry}' is mounted in {directory}: jobs would see an empty directory there"
            yield Finding("path-overlap", path, message, _HINT)
        elif hidden:
            for each in hidden:
                message = f"jobs cannot see {each.place}, {each.noun}: {directory} is private to each job"
                field = ".".join(map(str, each.path))
                hint = f"set {field} outside {' and '.join(directories)}, such as {each.example}"
                yield Finding("path-overlap", each.path, message, hint)
        elif directory not in TEMPORARY and without:
            where = f" that {without[0].folded} mounts" if len(without) < len(cluster.compute) else ""
            message = f"{directory} is on no local disk of storage{where}: jobs would see an empty directory there"
            yield Finding("path-of-system", path, message, _HINT)


def _owner(directory: str) -> str:
    """Who uses a directory, or one in it: `/usr contains /usr/bin, which belongs to …`; empty if nobody does."""
    row = nearest(directory)
    inner = [row for path, row in system_paths().items() if is_below(path, directory) and row.kind in CLOSED]
    if directory in TEMPORARY or not (row.kind in CLOSED or row.path == directory or inner):
        return ""
    if inner and row.kind not in CLOSED:
        return f"{directory} contains {inner[0].path}, which {owner(inner[0])}"
    return whose(directory)


def _mounts(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """File systems of compute nodes, and where these have them."""
    for group in cluster.compute:
        yield from ((name, entry.mount) for name, entry in visible(cluster, group).items())


def _is_on_disk(cluster: Cluster, group: NodeGroup, directory: str) -> bool:
    entries = mounts(cluster, group).values()
    return any(is_below(directory, plain(entry.mount)) for entry in entries if not entry.is_shared)


@record
class _Used:
    """A directory of compute nodes by its field, and what it is for."""

    path: ManifestPath
    place: str
    noun: str
    example: str


def _used(cluster: Cluster) -> Iterator[_Used]:
    """The used part of the path, as far as it is right otherwise: one mistake is reported once."""
    for entry in paths_of(cluster):
        path, use, name, text = entry.at, entry.use, entry.name, entry.path
        if writers(use, name) == "slurm-compute" and not refusal(use, text, name):
            yield _Used(path, plain(text), use.noun.format(name=name), use.example.format(name=name))
