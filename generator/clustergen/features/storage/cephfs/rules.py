"""CephFS: the servers that clients have to reach, and those on nodes of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.ip_networks import node_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.features.storage.cephfs.resolved import Cephfs
from clustergen.hostlist.addresses import host_of


def reached(_: Cluster, __: NodeGroup, entry: Cephfs) -> list[str]:
    return [host_of(monitor) for monitor in entry.monitors]


def ceph_server(cluster: Cluster) -> Iterator[Finding]:
    """Servers are nodes; clients look for the monitors where they are; a disk is one OSD."""
    hosts = [host for group in cluster.groups for host in group.hosts]
    for name, entry in cluster.entries(Cephfs).items():
        if (spec := entry.servers) is None:
            continue
        path: ManifestPath = ("storage", name, "servers")
        for host in entry.server_hosts:
            if host not in hosts:
                hint = did_you_mean(host, hosts) or "add it to nodes, with roles: []"
                yield Finding("ceph-server", path, f"'{host}' is not a node", hint)
        monitors = spec.monitors
        if not len(monitors) % 2:
            message = f"{len(monitors)} monitors survive no more failures than {len(monitors) - 1}"
            yield Finding("ceph-server", (*path, "monitors"), message, "use 3 or 5 monitors")
        nodes = {node[0].hosts[node[1]] for text in entry.monitors if (node := node_of(cluster, host_of(text)))}
        if strangers := [host for host in monitors if host in hosts and host not in nodes]:
            message = f"no address of monitor '{strangers[0]}' is in monitors, where clients look for it"
            yield Finding("ceph-server", ("storage", name, "monitors"), message, "list an address of each monitor")
        listed = [(osd.host, device) for osd in spec.osds for device in osd.devices]
        for host, device in dict.fromkeys(disk for disk in listed if listed.count(disk) > 1):
            yield Finding(
                "ceph-server", (*path, "osds"), f"{device} of '{host}' is listed twice", "list each disk once"
            )


def fuse_paths(cluster: Cluster) -> Iterator[Finding]:
    """mount.fuse.ceph gets the directory as one of the options, which commas separate."""
    for name, entry in cluster.entries(Cephfs).items():
        if entry.mounter == "fuse" and "," in entry.path:
            message = f"ceph-fuse cannot mount '{entry.path}': its mount options are separated by commas"
            hint = "mount a directory without a comma in its name, or write mounter: kernel"
            yield Finding("mount-option-value", ("storage", name, "path"), message, hint)
