"""Two NFS servers with an address that moves: Corosync, resources of Pacemaker, exports, clustergen-failover."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import ip_network

from clustergen.cluster.ip_networks import network_of, place_of
from clustergen.cluster.model import Cluster
from clustergen.features.storage.nfs.exports import Conf, ExportLine, conf_of, domain_of
from clustergen.features.storage.nfs.resolved import BMC_PASSWORD, Nfs
from clustergen.features.storage.nfs.routes import rings, shares
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, Effect
from clustergen.render.file import Context, File, sbin
from clustergen.render.formats import CONF

STATE = ".nfs-state"  # directory on the shared disk for the locks and clients that a server must know after a move


@record
class Member:
    """One server: its number in Corosync and its addresses, the management network's first."""

    host: str
    number: int
    addresses: tuple[str, ...]


@record
class Corosync:
    """corosync.conf of two nodes."""

    cluster: str
    members: tuple[Member, ...]


@record
class Fence:
    """The device that switches a server off: the BMC, asked by the other server."""

    host: str
    address: str
    other: str


@record
class Resources:
    """The configuration part of Pacemaker's CIB."""

    agent: str  # fence_ipmilan, fence_redfish
    user: str
    password: str  # file
    secure: bool
    fences: tuple[Fence, ...]
    device: str
    filesystem: str
    directory: str
    state: str
    address: str
    prefix: int


@record
class Pair:
    """The values of clustergen-failover. `unfinished_label`: until format is complete; `size_bytes` 0: not stated."""

    cluster: str
    hosts: tuple[str, ...]
    device: str
    size_bytes: int
    filesystem: str
    label: str
    unfinished_label: str
    directory: str
    state_directory: str
    exports: tuple[str, ...]


def corosync(cluster: Cluster, entry: Nfs) -> dict[str, Corosync] | None:
    if entry.failover is None:
        return None
    hosts = entry.failover.hosts
    columns = rings(cluster, hosts)
    members = (Member(host, number + 1, tuple(ring[number] for ring in columns)) for number, host in enumerate(hosts))
    return {"corosync": Corosync(f"nfs-{entry.name}", tuple(members))}


def resources(cluster: Cluster, entry: Nfs) -> dict[str, Resources] | None:
    bmc = cluster.networks.bmc
    if (pair := entry.failover) is None or bmc is None:
        return None
    hosts = pair.hosts
    network = network_of(cluster, entry.server)
    fences = []
    for host, other in zip(hosts, reversed(hosts), strict=True):
        if place := place_of(cluster, host):
            fences.append(Fence(host, place[0].bmc[place[1]], other))
    return {
        "cib": Resources(
            agent="fence_redfish" if bmc.protocol == "redfish" else "fence_ipmilan",
            user=pair.user,
            password=BMC_PASSWORD,
            secure=pair.check_certificates,
            fences=tuple(fences),
            device=pair.device,
            filesystem=pair.filesystem,
            directory=pair.directory.rstrip("/"),
            state=f"{pair.directory.rstrip('/')}/{STATE}",
            address=entry.server,
            prefix=ip_network(network.cidr).prefixlen if network and network.cidr else 0,
        )
    }


def pair_values(cluster: Cluster, entry: Nfs) -> dict[str, Pair] | None:
    if (pair := entry.failover) is None:
        return None
    directory = pair.directory.rstrip("/")
    return {
        entry.name: Pair(
            cluster=f"nfs-{entry.name}",
            hosts=pair.hosts,
            device=pair.device,
            size_bytes=pair.size_bytes or 0,
            filesystem=pair.filesystem,
            label=_label("nfs", entry.name),
            unfinished_label=_label("new", entry.name),
            directory=directory,
            state_directory=f"{directory}/{STATE}",
            exports=tuple(share.path.rstrip("/") for share in shares(cluster, pair).values()),
        )
    }


def _label(prefix: str, name: str) -> str:
    """At most 12 characters, as of XFS, and different for each name: two pairs can see the same disks."""
    return f"{prefix}-{name if len(name) <= 8 else sha256(name.encode()).hexdigest()[:8]}"


def exports(cluster: Cluster, entry: Nfs) -> dict[str, ExportLine] | None:
    """With `mountpoint`, the server without the disk exports nothing."""
    if entry.failover is None:
        return None
    guard = f"mountpoint={entry.failover.directory.rstrip('/')}"
    return {
        f"clustergen-{name}": ExportLine(
            share.path, ",".join(dict.fromkeys([*share.export.options, guard])), " ".join(_admitted(cluster, share))
        )
        for name, share in shares(cluster, entry.failover).items()
    }


def _admitted(cluster: Cluster, entry: Nfs) -> list[str]:
    """The manifest's networks, else those of management and storage, and the address's."""
    networks, network = cluster.networks, network_of(cluster, entry.server)
    named = [networks.management.cidr, networks.storage and networks.storage.cidr, network and network.cidr]
    return list(entry.export.networks) or list(dict.fromkeys(cidr for cidr in named if cidr))


def conf(cluster: Cluster, entry: Nfs) -> dict[str, Conf] | None:
    if entry.failover is None:
        return None
    return {"50-clustergen": conf_of(shares(cluster, entry.failover))}


def idmap(cluster: Cluster, entry: Nfs) -> dict[str, Context] | None:
    domain = domain_of(cluster)
    return {"50-clustergen-server": domain} if entry.failover and domain else None


def apply_exports(_: Cluster, entry: Nfs) -> dict[str, bool] | None:
    """The oneshot that applies changed exports where the server runs."""
    return {"clustergen-failover-exports": True} if entry.failover else None


_UNIT = "serve/etc/systemd/system/{unit}.service"
FILES: tuple[File, ...] = (
    File("serve/etc/corosync/{stem}.conf", corosync),
    File("serve/etc/clustergen-failover/{stem}.xml", resources),
    sbin("nfs_failover", "storage/clustergen-failover.sh"),
    File("serve/etc/clustergen/failover-{name}.sh", pair_values, values=True),
    File(
        "serve/etc/exports.d/{stem}.exports",
        exports,
        Effect("run", "clustergen-failover-exports.service"),
        format=CONF,
        source="export/etc/exports.d/clustergen-{name}.exports",
    ),
    File("serve/etc/nfs.conf.d/{stem}.conf", conf, source="nfs_server/etc/nfs.conf.d/50-clustergen.conf"),
    File(
        "serve/etc/idmapd.conf.d/{stem}.conf",
        idmap,
        source="nfs_server/etc/idmapd.conf.d/50-clustergen-server.conf",
    ),
    File(_UNIT, apply_exports, DAEMON_RELOAD, source="serve/etc/systemd/system/clustergen-failover-exports.service"),
)
