"""Directories of each job's own: what the release can make private, and what a job would lose sight of."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.system_paths import is_below, nearest, plain
from clustergen.cluster.directories import paths_of, writers
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath

_PATH: ManifestPath = ("slurm", "private_tmp")
_DEFAULT = {"/tmp", "/dev/shm"}
_CLOSED = ("kernel", "system", "service")


def too_new(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.manifest.slurm.private_tmp
    if spec is None:
        return
    differs = {plain(directory) for directory in spec.directories} != _DEFAULT
    for name, key, is_used in (("directories", "Dirs", differs), ("shared", "Shared", spec.shared)):
        row = slurm.key("job_container.conf", key)
        if is_used and row is not None and row.state(cluster.release) == "too-new":
            yield Finding(
                "slurm-feature-too-new",
                (*_PATH, name),
                f"{key} of job_container.conf requires Slurm {row.since} or newer; this is {cluster.release}",
                "remove it",
            )


def hidden(cluster: Cluster) -> Iterator[Finding]:
    """Files of the node that a job would not see, because its own directory is in front of them."""
    spec = cluster.manifest.slurm.private_tmp
    if spec is None:
        return
    used = {
        plain(text): use.noun.format(name=name)
        for _, use, name, text in paths_of(cluster.manifest)
        if writers(use, name) == "slurm-compute"
    }
    used |= {plain(entry.mount): f"storage '{name}'" for name, entry in cluster.manifest.storage.items()}
    for index, directory in enumerate(spec.directories):
        path: ManifestPath = (*_PATH, "directories", index)
        row = nearest(directory)
        if row.kind in _CLOSED:
            message = f"{directory} belongs to the operating system, and each job would see an empty directory there"
            yield Finding("path-of-system", path, message, "write a directory for temporary files, as /var/tmp")
            continue
        inside = next((place for place in used if is_below(place, plain(directory))), None)
        if inside:
            message = f"{used[inside]}, at {inside}, is in {directory}, of which each job would see an empty one"
            yield Finding("path-overlap", path, message, "remove it from directories, or choose another path")


RULES = (too_new, hidden)
