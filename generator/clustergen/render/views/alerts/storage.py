"""Alerts on the file systems of the manifest: mounted where they should be, answering, not full."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.entry import Entry
from clustergen.cluster.groups import mount_group, mounts_entry
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, Thresholds, has_pools
from clustergen.render.alerts import Alert, Topic


def topic(cluster: Cluster, _: NodeExporter) -> Topic | None:
    alerts = [alert for entry in cluster.storage.values() for alert in _mount(cluster, entry)]
    if has_pools(cluster):
        alerts.append(
            Alert(
                "StoragePoolDegraded", 'node_zfs_zpool_state{state!="online"} > 0', "1m", "critical",
                summary="Pool {{ $labels.zpool }} of {{ $labels.instance }} is {{ $labels.state }}",
                meaning="The pool lost one or more disks; another failure can lose data.",
                action="`zpool status {{ $labels.zpool }}` names the disk; replace it with zpool replace and let it"
                " resilver.",
                look="On the server: `zpool status -x`.",
                works="the pool and its clients",
            )
        )  # fmt: skip
    title = "File systems: mounted, responding, free space."
    return (
        Topic(
            "storage",
            title,
            (),
            tuple(alerts),
            look="On the node: `findmnt <mountpoint>`, `timeout 5 stat -f <mountpoint>`, `journalctl -k --since -1h`.",
            page="storage",
            drains=True,
            works="nodes and jobs that do not use this file system",
            place=60,
        )
        if alerts
        else None
    )


def _mount(cluster: Cluster, entry: Entry) -> Iterator[Alert]:
    name, mount = entry.name, entry.mount.rstrip("/")
    place, labels = f'{{mountpoint="{mount}"}}', (("mountpoint", mount),)
    roles = "|".join(entry.clients)
    types = f',node_type=~"{"|".join(entry.node_types)}"' if entry.node_types else ""
    clients = filter(lambda group: group.is_client(entry), cluster.groups)
    spared = [host for group in clients if not mounts_entry(cluster, group, name) for host in group.hosts]
    server = f',instance!~"{"|".join(spared)}"' if spared else ""
    yield Alert(
        "StorageNotMounted",
        f'up{{job="node",roles=~"(.+,)?({roles})(,.+)?"{types}{server}}} == 1\n'
        f"unless on (instance)\n"
        f"node_filesystem_device_error{place}",
        "5m", "critical" if entry.required else "warning",
        summary=f"{{{{ $labels.instance }}}} does not have {entry.mount}",
        meaning=f"The file system {name} ({entry.type}) is not mounted there.",
        action=f"On the node: `findmnt {entry.mount}`, then `systemctl status {mount}`. The group {mount_group(name)}"
        " holds all its clients.",
        labels=labels,
    )  # fmt: skip
    yield Alert(
        "StorageHangs", f"node_filesystem_device_error{place} == 1", "5m", "critical",
        summary=f"{entry.mount} does not respond on {{{{ $labels.instance }}}}",
        meaning="Processes that access it hang, including scripts around jobs.",
        action="On many nodes, the cause is the server or the network; on one node, read `journalctl -k` and drain it.",
        labels=labels,
    )  # fmt: skip
    if not entry.is_shared:
        return  # NodeFilesystemFull sees it
    yield Alert(
        "StorageFull",
        f"100 * min(node_filesystem_avail_bytes{place} / node_filesystem_size_bytes{place})"
        f" < {cluster.of(Thresholds).disk_free_percent}",
        "15m", "warning",
        summary=f'{entry.mount} has {{{{ $value | printf "%.0f" }}}} % free',
        meaning="Parallel file systems slow down long before they are full, and single servers fill up first.",
        action="Find the large users with the file system's quota report; move or delete data.",
        labels=labels,
        look="On a node that mounts it: `df -h <mountpoint>`.",
    )  # fmt: skip
