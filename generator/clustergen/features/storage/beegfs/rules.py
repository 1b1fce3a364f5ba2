"""BeeGFS: its keys by release, RDMA, and the server that clients have to reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue import storage as catalogue
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.cluster.ip_networks import node_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.features.storage.beegfs.resolved import Beegfs
from clustergen.hostlist import compress
from clustergen.hostlist.addresses import host_of
from clustergen.rules.storage import no_rdma, rdma_possible

_FIRST_RUN = "storeAllowFirstRunInit"
_FIELDS = {
    "sysMgmtdHost": "mgmtd",
    "connMgmtdPort": "mgmtd",
    "connMgmtdPortTCP": "mgmtd",
    "connMgmtdPortUDP": "mgmtd",
    "connAuthFile": "authentication",
    "connDisableAuthentication": "authentication",
    "connUseRDMA": "rdma",
    "storeMetaDirectory": "metadata_directory",
    "storeStorageDirectory": "storage_directories",
}
"""Keys of the servers' files that other fields of the manifest set, and on which the script's checks rest."""


def keys(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Beegfs).items():
        version = BeegfsVersion(entry.version)
        path: ManifestPath = ("storage", name)
        yield from _unknown_keys((*path, "client_options"), "client", entry.client_options, version)
        if spec := entry.servers:
            for field, daemon in (("metadata", "meta"), ("storage", "storage")):
                where: ManifestPath = (*path, "servers", f"{field}_options")
                options: Mapping[str, str] = getattr(spec, f"{field}_options")
                fixed = [key for key in options if key in _FIELDS or key == _FIRST_RUN]
                yield from (_fixed_key((*where, key), key) for key in fixed)
                others = [key for key in options if key not in fixed]
                yield from _unknown_keys(where, daemon, others, version)
        if entry.quotas and not entry.quota:
            message = "BeeGFS enforces limits only with quota: true"
            yield Finding("quota-wrong", (*path, "quotas"), message, "add quota: true")
        if entry.rdma and not rdma_possible(cluster):
            yield no_rdma(cluster, (*path, "rdma"))


def _fixed_key(path: ManifestPath, key: str) -> Finding:
    if key == _FIRST_RUN:
        message = f"'{key}' is always false, so that no server starts on an empty directory"
    else:
        message = f"'{key}' is set from {_FIELDS[key]}"
    return Finding("beegfs-server", path, message, "remove it", key=True)


def _unknown_keys(path: ManifestPath, daemon: str, options: Iterable[str], version: BeegfsVersion) -> Iterator[Finding]:
    """Keys that the release's file of a daemon does not have."""
    file = f"beegfs-{daemon}.conf"
    for key in options:
        key_row = catalogue.beegfs_key(file, key)
        newer = catalogue.beegfs_key(file, key_row.instead) if key_row and key_row.instead else None
        if newer is not None and newer.known_in(version):
            effect = "the mount fails if a file contains both names" if daemon == "client" else "the server stops on it"
            yield Finding(
                "beegfs-key-unknown",
                (*path, key),
                f"'{key}' was renamed in BeeGFS {newer.since}; {effect}",
                f"write {newer.key}",
                key=True,
            )
        elif key_row is None or not key_row.known_in(version):
            late = key_row is not None and key_row.since is not None and version < key_row.since
            when = f"; it requires {key_row.since} or newer" if key_row and late else ""
            names = [row.key for row in catalogue.beegfs_keys(file, version)]
            yield Finding(
                "beegfs-key-unknown",
                (*path, key),
                f"'{key}' is not a {daemon} key of BeeGFS {version}{when}",
                None if late else did_you_mean(key, names),
                key=True,
            )


def servers_known(cluster: Cluster) -> Iterator[Finding]:
    """Servers are nodes; the clients look for the management server at `mgmtd`; a host has the servers of one entry."""
    hosts = {host: group for group in cluster.groups for host in group.hosts}
    taken: dict[str, str] = {}
    for name, entry in cluster.entries(Beegfs).items():
        if entry.servers is None:
            continue
        path: ManifestPath = ("storage", name, "servers")
        spec = entry.servers
        for key, listed in (("management", (spec.management,)), ("metadata", spec.metadata), ("storage", spec.storage)):
            for host in listed:
                if host not in hosts:
                    hint = did_you_mean(host, hosts) or "add it to nodes, with roles: []"
                    yield Finding("beegfs-server", (*path, key), f"'{host}' is not a node", hint)
                elif taken.setdefault(host, name) != name:
                    message = (
                        f"'{host}' already is a server of '{taken[host]}', and BeeGFS has one configuration per host"
                    )
                    yield Finding("beegfs-server", (*path, key), message, "use other nodes")
        node = node_of(cluster, host_of(entry.mgmtd))
        if spec.management in hosts and (node is None or node[0].hosts[node[1]] != spec.management):
            message = f"mgmtd is {entry.mgmtd}, which is not an address of '{spec.management}'"
            yield Finding("beegfs-server", ("storage", name, "mgmtd"), message, "name the same host in both")
        for field in spec.mirror:
            number = len(getattr(spec, field))
            if number % 2:
                message = f"mirror groups pair {field} servers, and {number} cannot be paired"
                yield Finding(
                    "beegfs-server", (*path, field), message, f"name an even number, or remove {field} from mirror"
                )
        mounts = [spec.metadata_directory, *spec.storage_directories]
        for mount in sorted({mount for mount in mounts if mounts.count(mount) > 1}):
            yield Finding(
                "beegfs-server", path, f"{mount} is the place of two targets", "give each its own mount point"
            )


def beegfs_server_without_rdma(cluster: Cluster) -> Iterator[Finding]:
    """With RDMA, servers that are nodes need a port that carries it, or all clients fall back to TCP."""
    groups = {host: group for group in cluster.groups for host in group.hosts}
    for name, entry in cluster.entries(Beegfs).items():
        spec = entry.servers
        hosts = dict.fromkeys((*spec.metadata, *spec.storage)) if spec and entry.rdma else ()
        if without := [host for host in hosts if host in groups and not _has_rdma(groups[host])]:
            yield Finding(
                "beegfs-server-without-rdma",
                ("storage", name, "servers"),
                f"{compress(without)} {'have' if len(without) > 1 else 'has'} no port in the fabric or the storage"
                f" network, so nothing sets up RDMA there, and clients of '{name}' fall back to TCP",
                "list the ports in the node type, as nics: [{device: mlx5_0}], or write rdma: false",
                key=True,
            )


def _has_rdma(group: NodeGroup) -> bool:
    return any(port.network in ("fabric", "storage") for port in group.type.ports)


def reached(_: Cluster, __: NodeGroup, entry: Beegfs) -> list[str]:
    return [host_of(entry.mgmtd)]
