"""File systems by kind: space, clients that do not respond, and what NFS and ZFS report."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.entry import Entry
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Thresholds
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    NODE_PAGE,
    Dashboard,
    Panel,
    Target,
    at_least,
    graph,
    row,
    stat,
    table,
)

_MOST = 20


def dashboard(cluster: Cluster) -> Dashboard | None:
    entries = cluster.storage
    if not entries:
        return None
    limit = cluster.of(Thresholds).disk_free_percent
    rows = [row(f"{name}: {entry.type}, {entry.mount}", *_entry(entry, limit)) for name, entry in entries.items()]
    rows.append(row("Servers and clients", *_protocols()))
    return Dashboard("storage", "File systems", "Space, load and clients of each file system.", tuple(rows), place=80)


def _entry(entry: Entry, limit: int) -> Iterator[Panel]:
    which = f'{{mountpoint="{entry.mount.rstrip("/")}"}}'
    size, free = f"node_filesystem_size_bytes{which}", f"node_filesystem_avail_bytes{which}"
    clients = f"count(node_filesystem_device_error{which} == 0) or vector(0)"
    full = at_least(100 - 2 * limit, 100 - limit)
    yield stat("Clients", clients, help="Nodes on which it is mounted and responds.")
    yield stat("Clients that hang", f"sum(node_filesystem_device_error{which})", steps=ANY_IS_BAD)
    if entry.is_shared:
        yield stat(
            "Used",
            f"100 * (1 - min({free}) / max({size}))",
            "percent",
            steps=full,
            help=f"An alert fires below {limit} % free.",
        )
        yield stat("Size", f"max({size})", "bytes")
        yield graph(
            "Used space",
            Target(f"max({size}) - min({free})", "used"),
            Target(f"max({size})", "size"),
            unit="bytes",
            height=4,
        )
    else:
        used = f"topk({_MOST}, 100 * (1 - {free} / {size}))"
        yield graph("Fullest nodes", Target(used, "{{instance}}"), unit="percent", maximum=100, height=4, steps=full)


def _protocols() -> Iterator[Panel]:
    busiest = f"topk({_MOST}, node:nfs_requests:rate)"
    yield graph("NFS requests, busiest clients", Target(busiest, "{{instance}}"), unit="ops")
    yield graph("NFS requests by method", Target(f"topk({_MOST}, cluster:nfs_requests:rate)", "{{method}}"), unit="ops")
    yield table("ZFS pools", Target("max by (instance, zpool, state) (node_zfs_zpool_state == 1)"), links=NODE_PAGE)
    yield graph("Busiest local disks", Target(f"topk({_MOST}, node:disk_busy:max)", "{{instance}}"), unit="percentunit")
