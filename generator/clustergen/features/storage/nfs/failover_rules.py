"""Failover pairs of NFS: an address that can move, two servers with BMCs, exports on the shared disk."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import mounts_entry
from clustergen.cluster.ip_networks import addresses_in, network_of, node_of, place_of
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.features.storage.nfs.resolved import Nfs
from clustergen.features.storage.nfs.routes import rings, shares
from clustergen.hostlist import compress
from clustergen.hostlist.addresses import address_of

_CODE = "nfs-failover"


def pairs(cluster: Cluster) -> Iterator[Finding]:
    taken: dict[str, str] = {}
    for entry in cluster.entries(Nfs).values():
        if entry.failover:
            yield from _servers(cluster, entry, taken)
            yield from _address(cluster, entry)
            yield from _shares(cluster, entry)


def _servers(cluster: Cluster, entry: Nfs, taken: dict[str, str]) -> Iterator[Finding]:
    name, hosts = entry.name, entry.server_hosts
    path: ManifestPath = ("storage", name, "failover", "servers")
    if len(hosts) != 2:
        yield Finding(_CODE, path, f"a pair has 2 servers, not {len(hosts)}", "name two nodes: nfs[1-2]")
        return
    lacking = []
    for host in hosts:
        place = place_of(cluster, host)
        if place is None:
            hint = did_you_mean(host, cluster.hosts()) or "add it to nodes, with roles: []"
            yield Finding(_CODE, path, f"'{host}' is not a node", hint)
            continue
        group, position = place
        if cluster.networks.bmc is None or position >= len(group.bmc):
            lacking.append(host)
        if other := taken.get(host):
            message = f"'{host}' already is a server of '{other}', and Corosync has one configuration per host"
            hint = f"use other nodes, or leave failover out and write server: {entry.server} of '{other}' in both"
            yield Finding(_CODE, path, message, hint)
        taken[host] = name
        if group.has("nfs-server"):
            message = f"'{host}' has the role nfs-server, which starts the NFS server outside of Pacemaker"
            yield Finding(_CODE, path, message, "remove the role")
        if mounts_entry(cluster, group, name):
            message = f"'{host}' is a server of '{name}' and mounts it: it would wait for itself"
            yield Finding(_CODE, path, message, "use nodes with roles: [], or change clients")
    if lacking:
        message = f"without a BMC of {compress(lacking)}, both servers could write to the disk at the same time"
        yield Finding(_CODE, path, message, f"add networks.bmc, and addresses: {{bmc: …}} to {compress(lacking)}")
    if all(place_of(cluster, host) for host in hosts) and not rings(cluster, hosts):
        yield Finding(_CODE, path, "Corosync needs the addresses of both servers", "add address to the nodes")


def _address(cluster: Cluster, entry: Nfs) -> Iterator[Finding]:
    path: ManifestPath = ("storage", entry.name, "server")
    if address_of(entry.server) is None:
        message = f"'{entry.server}' is not an address, and Pacemaker moves an address"
        yield Finding(_CODE, path, message, "write an unused address, as 10.0.0.30")
    elif node := node_of(cluster, entry.server):
        message = f"{entry.server} is the address of '{node[0].hosts[node[1]]}', so it cannot move"
        yield Finding(_CODE, path, message, "write an unused address of the same network")
    elif (network := network_of(cluster, entry.server)) is None:
        message = f"no network of the cluster contains {entry.server}"
        yield Finding(_CODE, path, message, "write an unused address of a network with a cidr")
    else:
        places = [place for host in entry.server_hosts if (place := place_of(cluster, host))]
        for group, position in places:
            if not addresses_in(group, network):
                message = f"'{group.hosts[position]}' has no address on the {network.name} network of {entry.server}"
                yield Finding(_CODE, path, message, f"add addresses.{network.key} to {group.folded}")


def _shares(cluster: Cluster, entry: Nfs) -> Iterator[Finding]:
    if entry.failover is None:
        return
    directory = entry.failover.directory.rstrip("/")
    for other, share in shares(cluster, entry.failover).items():
        path: ManifestPath = ("storage", other)
        if share.failover and share is not entry:
            message = f"'{entry.name}' has the same address and its own pair"
            yield Finding(_CODE, (*path, "failover"), message, "state failover in one of them", key=True)
        if not share.path.startswith(f"{directory}/") or share.path.rstrip("/") == directory:
            message = f"{share.path} is not below {directory}, the mount point of the shared disk"
            yield Finding(_CODE, (*path, "path"), message, f"write {directory}/{other}")
        if share.version == "3":
            message = "a moved NFSv3 server loses its clients' locks, and clustergen configures no notification"
            yield Finding(_CODE, (*path, "version"), message, 'write version: "4.2"')
        if share.export.zfs:
            message = "a ZFS pool is imported by its server, and clustergen has no resource for that in Pacemaker"
            yield Finding(_CODE, (*path, "export", "zfs"), message, "use failover.device", key=True)
