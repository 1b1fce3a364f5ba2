"""Quotas: limits that the file system can keep as stated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.system_paths import is_below
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.quotas.hosts import quota_host
from clustergen.manifest.quotas import ProjectQuota, Quota, subject
from clustergen.manifest.storage import Storage

_CODE = "quota-wrong"


def quotas(cluster: Cluster, section: Mapping[str, Storage]) -> Iterator[Finding]:
    for name, entry in cluster.storage.items():
        listed: tuple[Quota, ...] = getattr(section[name], "quotas", ())
        first: ManifestPath = ("storage", name, "quotas")
        if listed and not quota_host(cluster, entry):
            if entry.quota_tool().scope == "export":
                message = "the server is not a node of this cluster, so clustergen cannot set its quotas"
                yield Finding(_CODE, first, message, "set them on the server, and remove quotas")
            else:
                message = "no node mounts the file system for writing, to set its quotas"
                yield Finding(_CODE, first, message, "add clients")
        subjects: set[tuple[str, str]] = set()
        for index, quota in enumerate(listed):
            path = (*first, index)
            what = subject(quota)
            if what == ("", ""):
                hint = "write user or group" + (", or project" if isinstance(quota, ProjectQuota) else "")
                yield Finding(_CODE, path, "a quota is of exactly one user, group or project", hint)
            elif what in subjects:
                yield Finding(_CODE, path, f"{what[0]} '{what[1]}' has a quota already", "remove one of them")
            subjects.add(what)
            yield from _limits(path, quota, entry.mount)


def _limits(path: ManifestPath, quota: Quota, mount: str) -> Iterator[Finding]:
    if quota.space is None and quota.files is None:
        yield Finding(_CODE, path, "a quota without limits", "add space or files")
    if quota.space is not None and (quota.space.value < 1024 or quota.space.value % 1024):
        hint = "write KiB, MiB, GiB or TiB"
        yield Finding(_CODE, (*path, "space"), f"{quota.space} is no multiple of 1 KiB, the unit of quotas", hint)
    if isinstance(quota, ProjectQuota) and (quota.project is None) != (quota.directory is None):
        yield Finding(_CODE, path, "a project has a number and a directory", "write project and directory")
    directory = getattr(quota, "directory", None)
    if directory is not None and not is_below(directory, mount):
        yield Finding(_CODE, (*path, "directory"), f"{directory} is not below {mount}", f"write {mount}/…")
