"""NFS: servers and their exports, transports, and the ZFS pools below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.cluster.exports import server_of
from clustergen.cluster.groups import clients_of, clients_of_type
from clustergen.cluster.host import Firewall
from clustergen.cluster.ip_networks import IpNetwork, carries_rdma, ip_networks, is_on, network_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, suggest
from clustergen.features.storage.nfs.resolved import Nfs
from clustergen.features.storage.nfs.routes import Route, is_chosen, route, routes, served, shares
from clustergen.features.storage.nfs.section import ZfsLayout
from clustergen.hostlist import compress
from clustergen.rules.storage import is_unstable, mounted_over, no_rdma, option_findings, rdma_possible

_LEAST_DISKS: dict[ZfsLayout, int] = {"stripe": 1, "mirror": 2, "raidz1": 2, "raidz2": 3, "raidz3": 4}


def servers(cluster: Cluster) -> Iterator[Finding]:
    used: set[int] = set()
    paired = {name for entry in cluster.entries(Nfs).values() if entry.failover for name in entry.failover.shares}
    for name, entry in cluster.entries(Nfs).items():
        server = server_of(cluster, entry)
        if server is not None:
            used.add(server.group.index)
            if not server.group.has("nfs-server"):
                yield Finding(
                    "nfs-server-role",
                    ("storage", name, "server"),
                    f"node '{entry.server}' does not have the role nfs-server, so it exports nothing",
                    f"add nfs-server to the roles of {server.group.folded}",
                )
        elif name not in paired and entry.export.at:
            similar = did_you_mean(entry.server, cluster.hosts())
            yield Finding(
                "nfs-export-elsewhere",
                ("storage", name, "server" if similar else "export"),
                f"'{entry.server}' is not a node of this cluster, so clustergen cannot configure an export on it",
                similar or "remove export",
                key=similar is None,
            )
    for group in cluster.with_role("nfs-server"):
        if group.index not in used:
            yield Finding(
                "nfs-server-idle",
                ("nodes", group.index, "roles"),
                f"{group.folded} has the role nfs-server, but is not the server of any nfs storage entry",
                _server_meant(cluster, group.hosts)
                or f"set server: {group.hosts[0]} in a storage entry, or remove the role",
            )


def _server_meant(cluster: Cluster, hosts: Iterable[str]) -> str | None:
    """The hint where an entry has a server that is no node, but called much like one of these."""
    nodes = set(cluster.hosts())
    for name, entry in cluster.entries(Nfs).items():
        if entry.server not in nodes and (host := suggest(entry.server, hosts)):
            return f"write server: {host} in storage.{name}, not {entry.server}; or remove the role"
    return None


def nfs_version_firewall(cluster: Cluster) -> Iterator[Finding]:
    """NFSv3 needs ports of rpcbind, mountd, statd and lockd, most of which change at each start."""
    for name, entry in cluster.entries(Nfs).items():
        if entry.version == "3" and cluster.of(Firewall).closes and server_of(cluster, entry):
            yield Finding(
                "nfs-version-firewall",
                ("storage", name, "version"),
                "NFSv3 needs the ports of rpcbind, mountd, statd and lockd, which host.firewall: nftables closes",
                "write version: 4.2",
            )


def reach(cluster: Cluster) -> Iterator[Finding]:
    """Clients need a network that carries the transport, and, of a node's export, one that it is open to."""
    for name, entry in cluster.entries(Nfs).items():
        if entry.rdma and not rdma_possible(cluster):
            continue
        server = server_of(cluster, entry)
        if server is None:
            yield from _reach_outside(cluster, entry)
            continue
        ways = routes(cluster, entry, server)
        if entry.rdma and not ways:
            yield Finding(
                "nfs-rdma-address",
                ("storage", name, "rdma"),
                f"'{entry.server}' is on a network that does not carry RDMA"
                if is_chosen(entry, server)
                else f"'{server.host}', which serves '{name}', has no address on a network that carries RDMA",
                f"add addresses.fabric to {server.group.folded}, or remove rdma",
            )
        for kind in cluster.node_types if ways else ():
            clients = clients_of_type(cluster, name, kind)
            if route(cluster, entry, clients) is None:
                yield from _unreached(name, entry, ways, clients)


def nfs_port(cluster: Cluster) -> Iterator[Finding]:
    """A server has one port of each transport, and all nodes with the role nfs-server have the same file."""
    together = [served(cluster)]
    together += [shares(cluster, entry.failover) for entry in cluster.entries(Nfs).values() if entry.failover]
    for entries in together:
        for rdma in (False, True):
            stated = {name: entry.port for name, entry in entries.items() if entry.rdma == rdma}
            first = next((name for name in stated if entries[name].port_at), "")
            for name, port in stated.items():
                if port != stated[first or name]:
                    where = name if entries[name].port_at else first
                    yield Finding(
                        "nfs-port",
                        ("storage", where, "port"),
                        f"'{first}' has port {stated[first]} and '{name}' has port {port}, but NFS servers of this"
                        " cluster listen on one port",
                        f"write port: {stated[first]} in both, or remove port",
                    )


def _reach_outside(cluster: Cluster, entry: Nfs) -> Iterator[Finding]:
    """Clients of a server that is no node: what the manifest describes of their own ports is enough for a verdict."""
    if not entry.rdma:
        return
    name, network = entry.name, network_of(cluster, entry.server)
    clients = clients_of(cluster, name)
    without = [group for group in clients if not _may_have_rdma(cluster, group, network)]
    if not without:
        return
    hosts = [host for group in without for host in group.hosts]
    have = "has" if len(hosts) == 1 else "have"
    if network is None:
        message = f"{compress(hosts)} {have} no RDMA port, but '{name}' is mounted over RDMA"
    else:
        message = f"'{entry.server}' is on the {network.name} network, where {compress(hosts)} {have} no RDMA port"
    yield Finding(
        "nfs-rdma-address",
        ("storage", name, "rdma"),
        message,
        "remove rdma, or write the server's address on a network whose ports carry RDMA",
    )


def _may_have_rdma(cluster: Cluster, group: NodeGroup, network: IpNetwork | None) -> bool:
    """On that network; None, where only DNS knows the server: on any. Hardware that nobody described may have it."""
    if network is not None:
        return carries_rdma(cluster, group.type, network) is not False
    if not group.type.is_resolved:
        return True
    return any(
        carries_rdma(cluster, group.type, candidate) is not False
        and (candidate.key != "fabric" or is_on(group, candidate) or bool(group.type.fabric_ports()))
        for candidate in ip_networks(cluster)
    )


def _unreached(name: str, entry: Nfs, ways: list[Route], clients: list[NodeGroup]) -> Iterator[Finding]:
    """Why clients of one type have no way to a server that has some."""
    on = [way for way in ways if all(is_on(group, way.network) for group in clients)]
    folded = compress([host for group in clients for host in group.hosts])
    if on:
        cidr = on[0].network.cidr
        yield Finding(
            "nfs-export-excludes",
            ("storage", name, "export", "networks"),
            f"{folded} mount '{name}' over the {on[0].network.name} network, to which it is not exported",
            f"add {cidr}" if cidr else "add the network of these nodes",
        )
    elif entry.rdma:
        network = ways[0].network
        yield Finding(
            "nfs-rdma-address",
            ("storage", name, "rdma"),
            f"{folded} have no address on the {network.name} network, over which '{name}' is mounted with RDMA",
            f"add addresses.{network.key} to them, or mount it there with another entry without rdma",
        )


def transport(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Nfs).items():
        path: ManifestPath = ("storage", name)
        words = [option.partition("=")[0] for option in entry.options]
        if entry.rdma and (entry.nconnect or "nconnect" in words):
            where: ManifestPath = (*path, "nconnect") if entry.nconnect else (*path, "options", words.index("nconnect"))
            yield Finding(
                "nfs-nconnect",
                where,
                "nconnect applies to TCP only; RDMA uses one connection",
                "remove it",
                key=bool(entry.nconnect),
            )
        if entry.rdma and not rdma_possible(cluster):
            yield no_rdma(cluster, (*path, "rdma"))
        for where in [(*path, "soft")] * entry.soft + [
            (*path, "options", index) for index, word in enumerate(words) if word in ("soft", "softerr")
        ]:
            yield Finding(
                "nfs-soft",
                where,
                "a soft mount can abort writes with an error that few programs check, so data is lost silently",
                "remove it; set required: false to let nodes work without the file system",
                key=where[-1] == "soft",
            )


def zfs(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Nfs).items():
        pool = entry.export.zfs
        if pool is None:
            continue
        if server_of(cluster, entry) is not None:  # the pool is mounted there
            yield from mounted_over(("storage", name, "path"), entry.path, name, is_shared=False)
        path: ManifestPath = ("storage", name, "export", "zfs")
        least = _LEAST_DISKS[pool.layout]
        width = pool.vdev_width
        if len(pool.disks) % width:
            yield Finding(
                "zfs-layout",
                (*path, "vdev_width"),
                f"{len(pool.disks)} disks cannot be divided into vdevs of {width}",
                f"use a divisor of {len(pool.disks)}",
            )
        elif width < least:
            yield Finding(
                "zfs-layout",
                pool.layout_at or (*path, "disks"),
                f"{pool.layout} requires {least} disks per vdev, not {width}",
                "use mirror for two disks"
                if width == 2
                else "use stripe for a single disk, without redundancy"
                if width == 1
                else None,
                key=not pool.layout_at,
            )
        seen: dict[str, str] = {}
        for field in ("disks", "log", "cache"):
            for index, disk in enumerate(getattr(pool, field)):
                if disk in seen:
                    yield Finding(
                        "zfs-disk-twice", (*path, field, index), f"disk '{disk}' is already listed in {seen[disk]}"
                    )
                elif is_unstable(disk):
                    yield Finding(
                        "device-name-unstable",
                        (*path, field, index),
                        f"the kernel numbers disks in detection order, so {disk} may be a different disk"
                        " when the pool is created",
                        "write its path below /dev/disk/by-id",
                    )
                seen.setdefault(disk, field)


def exports(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Nfs).items():
        for index, option in enumerate(entry.export.options):
            path: ManifestPath = ("storage", name, "export", "options", index)
            yield from option_findings(path, "exports", "an NFS export", option)


def reached(cluster: Cluster, _: NodeGroup, entry: Nfs) -> list[str]:
    """None for RDMA from a node of the cluster, whose route other rules judge."""
    return [] if entry.rdma and server_of(cluster, entry) else [entry.server]
