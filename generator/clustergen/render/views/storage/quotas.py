"""Quotas: the limits of a file system that clustergen-quota compares and sets, and the unit that applies a change."""

from __future__ import annotations

from typing import Literal, cast

from clustergen.cluster.groups import exports_on, mounts
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.quotas import quota_host, quotas_of
from clustergen.filesystems import file_system, part
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import ProjectQuota, Quota, subject
from clustergen.records import record
from clustergen.render.effects import Effect, run
from clustergen.render.file import File

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
    """The values of clustergen-quota, and its unit, on the one host that sets the limits."""

    entry: str
    backend: Backend
    place: str  # mount point; a dataset of ZFS
    path: str  # directory that must be mounted before
    host: str
    environment: tuple[tuple[str, str], ...]
    limits: tuple[Limit, ...]


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
    return {name: Quotas(name, backend, place, path, host, tuple(environment.items()), limits)}


def on_client(cluster: Cluster, name: str, entry: Mount) -> dict[str, Quotas] | None:
    if file_system(entry.type).quotas != "client":
        return None
    module = part(entry.type, "quotas")
    backend, environment = module.tool(cluster, name, entry) if module else (cast("Backend", entry.type), {})
    return quotas_view(cluster, name, entry, backend, entry.mount, entry.mount, **environment)


def apply(view: Quotas) -> Effect:
    return run(f"clustergen-quota-{view.entry}.service")


def program(cluster: Cluster, node_type: NodeType) -> bool:
    """On the nodes that have the values of an entry: they mount it, or export it by NFS."""
    for group in cluster.of_type[node_type.name]:
        for side, entries in (("client", mounts(cluster, group)), ("server", exports_on(cluster, group))):
            for name, entry in entries.items():
                if file_system(entry.type).quotas == side and quotas_of(entry) and quota_host(cluster, name, entry):
                    return True
    return False


VALUES = "etc/clustergen/quota-{name}.sh"
UNIT = "etc/systemd/system/clustergen-quota-{name}.service"
FILES: tuple[File, ...] = (
    File("all/usr/local/sbin/clustergen-quota", program, mode=0o755, per="type", program="storage/clustergen-quota.sh"),
    File(f"mount/{VALUES}", on_client, apply, values=True),
    File(f"mount/{UNIT}", on_client, apply),
)
