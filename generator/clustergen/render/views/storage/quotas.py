"""Quotas: the limits of a file system that clustergen-quota compares and sets, and the unit that applies a change."""

from __future__ import annotations

from typing import Literal, cast

from clustergen.cluster.groups import exports_on, mounts
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.quotas import quota_host
from clustergen.filesystems import file_system, part
from clustergen.filesystems.entry import Entry, Quota
from clustergen.records import record
from clustergen.render.effects import Effect, run
from clustergen.render.file import File

Backend = Literal["lustre", "cephfs", "beegfs", "beegfs-ctl", "zfs", "kernel"]


@record
class Quotas:
    """The values of clustergen-quota, and its unit, on the one host that sets the limits."""

    entry: str
    backend: Backend
    place: str  # mount point; a dataset of ZFS
    path: str  # directory that must be mounted before
    host: str
    environment: tuple[tuple[str, str], ...]
    limits: tuple[Quota, ...]


def quotas_view(
    cluster: Cluster, entry: Entry, backend: Backend, place: str, path: str, **environment: str
) -> dict[str, Quotas] | None:
    """None where the entry has no quotas or no host to set them."""
    host = quota_host(cluster, entry)
    if not host or not entry.quotas:
        return None
    name = entry.name
    return {name: Quotas(name, backend, place, path, host, tuple(environment.items()), entry.quotas)}


def on_client(cluster: Cluster, entry: Entry) -> dict[str, Quotas] | None:
    if file_system(entry.type).quotas != "client":
        return None
    module = part(entry.type, "quotas")
    backend, environment = module.tool(entry) if module else (cast("Backend", entry.type), {})
    return quotas_view(cluster, entry, backend, entry.mount, entry.mount, **environment)


def apply(view: Quotas) -> Effect:
    return run(f"clustergen-quota-{view.entry}.service")


def program(cluster: Cluster, node_type: NodeType) -> bool:
    """On the nodes that have the values of an entry: they mount it, or export it by NFS."""
    for group in cluster.of_type[node_type.name]:
        for side, entries in (("client", mounts(cluster, group)), ("server", exports_on(cluster, group))):
            for entry in entries.values():
                if file_system(entry.type).quotas == side and entry.quotas and quota_host(cluster, entry):
                    return True
    return False


VALUES = "etc/clustergen/quota-{name}.sh"
UNIT = "etc/systemd/system/clustergen-quota-{name}.service"
FILES: tuple[File, ...] = (
    File("all/usr/local/sbin/clustergen-quota", program, mode=0o755, per="type", program="storage/clustergen-quota.sh"),
    File(f"mount/{VALUES}", on_client, apply, values=True),
    File(f"mount/{UNIT}", on_client, apply),
)
