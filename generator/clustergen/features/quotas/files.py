"""The limits of a file system that clustergen-quota compares and sets, and the unit that applies a change."""

from __future__ import annotations

from clustergen.cluster.entry import Entry, Quota, Scope
from clustergen.cluster.groups import exports_on, mounts
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.quotas.hosts import quota_host
from clustergen.records import record
from clustergen.render.effects import Effect, run
from clustergen.render.file import File, sbin


@record
class Quotas:
    """The values of clustergen-quota, and its unit, on the one host that sets the limits."""

    entry: str
    backend: str
    place: str  # mount point; a dataset of ZFS
    path: str  # directory that must be mounted before
    host: str
    environment: tuple[tuple[str, str], ...]
    limits: tuple[Quota, ...]


def _quotas(cluster: Cluster, entry: Entry, scope: Scope) -> dict[str, Quotas] | None:
    """None where the entry has no quotas, no host to set them, or one of another scope."""
    tool, host = entry.quota_tool(), quota_host(cluster, entry)
    if tool.scope != scope or not host or not entry.quotas:
        return None
    environment = tuple(tool.environment.items())
    return {
        entry.name: Quotas(
            entry=entry.name,
            backend=tool.backend,
            place=tool.place,
            path=tool.path,
            host=host,
            environment=environment,
            limits=entry.quotas,
        )
    }


def on_client(cluster: Cluster, entry: Entry) -> dict[str, Quotas] | None:
    return _quotas(cluster, entry, "mount")


def on_server(cluster: Cluster, entry: Entry) -> dict[str, Quotas] | None:
    return _quotas(cluster, entry, "export")


def apply(view: Quotas) -> Effect:
    return run(f"clustergen-quota-{view.entry}.service")


def program(cluster: Cluster, node_type: NodeType) -> bool:
    """On the nodes that have the values of an entry."""
    groups = cluster.of_type[node_type.name]
    mounted = (entry for group in groups for entry in mounts(cluster, group).values())
    exported = (entry for group in groups for entry in exports_on(cluster, group).values())
    return any(on_client(cluster, entry) for entry in mounted) or any(on_server(cluster, entry) for entry in exported)


_VALUES = "etc/clustergen/quota-{name}.sh"
_UNIT = "etc/systemd/system/clustergen-quota-{name}.service"
FILES: tuple[File, ...] = (
    sbin("all", "storage/clustergen-quota.sh", program, per="type"),
    File(f"mount/{_VALUES}", on_client, apply, values=True),
    File(f"mount/{_UNIT}", on_client, apply),
    File(f"export/{_VALUES}", on_server, apply, values=True),
    File(f"export/{_UNIT}", on_server, apply, source=f"mount/{_UNIT}"),
)
