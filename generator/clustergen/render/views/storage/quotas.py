"""Quotas: a script that compares and sets the limits of one file system, and the unit that applies a change."""

from __future__ import annotations

from typing import Literal, cast

from clustergen.cluster.model import Cluster
from clustergen.cluster.quotas import quota_host, quotas_of
from clustergen.filesystems import file_system, part
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import ProjectQuota, Quota, subject
from clustergen.records import record
from clustergen.render.effects import Effect, run
from clustergen.render.file import File
from clustergen.render.formats import SHELL

Backend = Literal["lustre", "cephfs", "beegfs", "beegfs-ctl", "zfs", "kernel"]


@record
class Limit:
    """One quota; 0 is no limit."""

    kind: str  # user, group, project, directory
    name: str
    kib: int
    files: int
    directory: str  # of a project


@record
class Quotas:
    """The script and its unit, on the one host that sets the limits."""

    entry: str
    backend: Backend
    place: str  # mount point; a dataset of ZFS
    path: str  # directory that must be mounted before
    host: str
    limits: tuple[Limit, ...]
    environment: tuple[tuple[str, str], ...]


def _limit(quota: Quota) -> Limit:
    kind, name = subject(quota)
    directory = quota.directory if isinstance(quota, ProjectQuota) else None
    return Limit(kind, name, quota.space.value // 1024 if quota.space else 0, quota.files or 0, directory or "")


def quotas_view(
    cluster: Cluster, name: str, entry: Mount, backend: Backend, place: str, path: str, **environment: str
) -> dict[str, Quotas] | None:
    """None where the entry has no quotas or no host to set them."""
    host = quota_host(cluster, name, entry)
    limits = tuple(map(_limit, quotas_of(entry)))
    if not host or not limits:
        return None
    return {name: Quotas(name, backend, place, path, host, limits, tuple(environment.items()))}


def on_client(cluster: Cluster, name: str, entry: Mount) -> dict[str, Quotas] | None:
    if file_system(entry.type).quotas != "client":
        return None
    module = part(entry.type, "quotas")
    backend, environment = module.tool(cluster, name, entry) if module else (cast("Backend", entry.type), {})
    return quotas_view(cluster, name, entry, backend, entry.mount, entry.mount, **environment)


def apply(view: Quotas) -> Effect:
    return run(f"clustergen-quota-{view.entry}.service")


SCRIPT = "usr/local/sbin/clustergen-quota-{name}"
UNIT = "etc/systemd/system/clustergen-quota-{name}.service"
FILES: tuple[File, ...] = (
    File(f"mount/{SCRIPT}", on_client, apply, mode=0o755, format=SHELL),
    File(f"mount/{UNIT}", on_client, apply),
)
