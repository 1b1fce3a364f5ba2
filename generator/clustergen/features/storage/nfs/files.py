"""NFS: clients' mounts, and exports where a node of this cluster is the server."""

from __future__ import annotations

from clustergen.catalogue.network import ports
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.exports import serves
from clustergen.cluster.groups import clients_of, clients_of_type
from clustergen.cluster.host import FileCache
from clustergen.cluster.ip_networks import addresses_in
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.nfs import failover, zfs
from clustergen.features.storage.nfs.exports import Conf, ExportLine, conf_of, domain_of
from clustergen.features.storage.nfs.resolved import Nfs
from clustergen.features.storage.nfs.routes import route, served
from clustergen.records import record
from clustergen.render.arguments import restarts
from clustergen.render.effects import DAEMON_RELOAD, reload, restart
from clustergen.render.file import Context, File
from clustergen.render.mounts import MountUnit, Source, bind_mount, remote_mount, remount_unit

_RETRY_MINUTES = 10


def mount_units(cluster: Cluster, entry: Nfs, node_type: NodeType) -> dict[str, MountUnit]:
    way = route(cluster, entry, clients_of_type(cluster, entry.name, node_type))
    host = way.server if way else entry.server
    family = "6" if ":" in host else ""
    server = f"[{host}]" if family else host
    options = [f"vers={entry.version}"]
    if entry.rdma:
        options += [f"proto=rdma{family}", f"port={entry.port}"]
    else:
        options += [f"proto=tcp{family}", *([f"port={entry.port}"] if entry.port_at else [])]
        options += [f"nconnect={entry.nconnect}"] if entry.nconnect else []
    options += ["soft" if entry.soft else "hard", f"retry={_RETRY_MINUTES}"]
    caches = cluster.has(FileCache) and node_type.name in cluster.of(FileCache).types
    return remote_mount(
        entry,
        Source(
            what=f"{server}:{entry.path}",
            kind="nfs",
            options=[*options, "fsc"] if caches else options,
            wants=["cachefilesd.service"] if caches else (),
            after=["rdma-hw.target", "openibd.service"] if entry.rdma else (),
            timeout=f"{_RETRY_MINUTES + 2}min",
            note="Waits for a server that starts after this node.",
        ),
    )


def _mounted(cluster: Cluster) -> list[Nfs]:
    return [entry for name, entry in cluster.entries(Nfs).items() if clients_of(cluster, name)]


def _admitted(cluster: Cluster, entry: Nfs) -> list[str]:
    """The manifest's networks, else those that clients come from, else the clients by address or name."""
    if entry.export.networks:
        return list(entry.export.networks)
    networks = cluster.networks
    admitted = [networks.management.cidr, networks.storage.cidr if networks.storage else None]
    for node_type in cluster.node_types:
        clients = clients_of_type(cluster, entry.name, node_type)
        way = route(cluster, entry, clients)
        if way is not None and way.network.cidr:
            admitted.append(way.network.cidr)
        elif way is not None:
            admitted += [host for group in clients for host in addresses_in(group, way.network) or group.hosts]
    return list(dict.fromkeys(client for client in admitted if client))


def export(cluster: Cluster, entry: Nfs) -> dict[str, ExportLine] | None:
    # Without its dataset, the empty directory below must not be exported.
    guard = ["mountpoint"] if entry.export.zfs else []
    options = ",".join(dict.fromkeys([*entry.export.options, *guard]))
    return {entry.name: ExportLine(entry.path, options, " ".join(_admitted(cluster, entry)))}


def server_view(cluster: Cluster, entry: Nfs) -> dict[str, MountUnit] | None:
    """On a server that is a client by its role: the directory at its place, from the disk and not over the network."""
    if entry.path.rstrip("/") == entry.mount.rstrip("/"):
        return None
    servers = [group for group in cluster.groups if serves(cluster, group, entry)]
    if not any(group.is_client(entry) for group in servers):
        return None
    return bind_mount(entry, entry.path.rstrip("/"), zfs=entry.export.zfs is not None)


def server_conf(cluster: Cluster) -> Conf | None:
    entries = served(cluster)
    return conf_of(entries) if entries else None


def zfs_first(cluster: Cluster) -> Context | None:
    """Drop-in of nfs-server.service."""
    pools = dict.fromkeys(entry.export.zfs.name for entry in served(cluster).values() if entry.export.zfs)
    return {"pools": ", ".join(pools)} if pools else None


@record
class Rquotad:
    """Drop-in of the unit that tells clients their users' limits."""

    unit: str
    port: int
    exports: str


def rquotad(cluster: Cluster, os: OperatingSystem) -> Rquotad | None:
    shown = [name for name, entry in served(cluster).items() if entry.shows_quotas]
    return Rquotad(os.fact("rquotad_unit"), ports()["rquotad"].port, ", ".join(shown)) if shown else None


def client_idmap(cluster: Cluster) -> Context | None:
    return domain_of(cluster) if any(entry.version != "3" for entry in _mounted(cluster)) else None


def server_idmap(cluster: Cluster) -> Context | None:
    return domain_of(cluster) if any(entry.version != "3" for entry in served(cluster).values()) else None


def client_modules(cluster: Cluster) -> Context | None:
    return {"modules": ("rpcrdma",)} if any(entry.rdma for entry in _mounted(cluster)) else None


def server_modules(cluster: Cluster) -> Context | None:
    return {"modules": ("rpcrdma",)} if any(entry.rdma for entry in served(cluster).values()) else None


_NFSD = "nfs-server.service"
_MODULES = restart("systemd-modules-load.service")
_MOUNT = "etc/systemd/system/{unit}.mount"
FILES: tuple[File, ...] = (
    File("export/etc/exports.d/clustergen-{name}.exports", export, reload(_NFSD)),
    File(f"export/{_MOUNT}", server_view, remount_unit, source=f"mount/{_MOUNT}"),
    File("nfs_server/etc/nfs.conf.d/50-clustergen.conf", server_conf, restart(_NFSD)),
    File("nfs_server/etc/systemd/system/nfs-server.service.d/50-clustergen.conf", zfs_first, DAEMON_RELOAD),
    File(
        "nfs_server/etc/systemd/system/{os.rquotad_unit}.d/50-clustergen.conf",
        rquotad,
        restarts,
        per="os",
        source="nfs_server/etc/systemd/system/rquotad.service.d/50-clustergen.conf",
    ),
    File("nfs_server/etc/modules-load.d/clustergen-nfs-server.conf", server_modules, _MODULES),
    File("nfs_server/etc/idmapd.conf.d/50-clustergen-server.conf", server_idmap, restart("nfs-idmapd.service")),
    File("nfs_client/etc/idmapd.conf.d/50-clustergen-client.conf", client_idmap),
    File("nfs_client/etc/modules-load.d/clustergen-nfs-client.conf", client_modules, _MODULES),
    *zfs.FILES,
    *failover.FILES,
)
