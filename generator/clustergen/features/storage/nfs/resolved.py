"""NFS as resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue.network import ports
from clustergen.cluster.annotations import Hosts
from clustergen.cluster.entry import Entry, Exported, Listening, QuotaTool, Scope, SecretFile, resolved, texts
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ManifestPath
from clustergen.features.storage.nfs import section as manifest
from clustergen.hostlist import compress, expand
from clustergen.records import copied, record

AUTHKEY = "/etc/corosync/authkey"
BMC_PASSWORD = "/etc/clustergen-failover/bmc-password"
# What a dataset for home directories and data wants; the manifest's properties go before these.
_PROPERTIES = {"compression": "lz4", "atime": "off", "xattr": "sa", "acltype": "posixacl"}


@record
class ZfsPool:
    """A ZFS pool of an NFS server."""

    name: str
    layout: manifest.ZfsLayout
    layout_at: ManifestPath | None  # None: left to the default
    disks: tuple[str, ...]
    vdev_width: int
    log: tuple[str, ...]
    cache: tuple[str, ...]
    ashift: int
    properties: Mapping[str, str]
    scrub: str  # weekly, monthly, never
    arc_max_bytes: int | None  # None: a share of the node's memory


@record
class Export:
    """Settings of the server. `networks`: that can mount it; empty: those that clients come from."""

    at: ManifestPath | None  # None: left to the defaults
    networks: tuple[str, ...]
    options: tuple[str, ...]
    threads: int
    zfs: ZfsPool | None


@record
class Failover:
    """Two servers between which the address of an entry moves."""

    hosts: Hosts  # the two servers
    device: str
    size_bytes: int | None
    filesystem: str
    directory: str
    user: str
    check_certificates: bool
    shares: tuple[str, ...]  # entries with this address


@record
class Nfs(Entry):
    """An NFS file system. `port`: of its transport."""

    server: str
    path: str
    version: str
    nconnect: int | None
    rdma: bool
    port: int
    port_at: ManifestPath | None  # None: left to the default
    soft: bool
    export: Export
    failover: Failover | None

    @property
    def tcp_connections(self) -> int | None:
        """One without nconnect; None with RDMA."""
        if self.rdma:
            return None
        stated = [value for name, _, value in (option.partition("=") for option in self.options) if name == "nconnect"]
        return self.nconnect or (int(stated[-1]) if stated and stated[-1].isdigit() else 1)

    def exported(self) -> Exported:
        return Exported(self.server, self.path.rstrip("/"), self.export.zfs.name if self.export.zfs else "")

    def quota_tool(self) -> QuotaTool:
        """On the dataset of the server's pool, or on the file system of the exported directory."""
        path = self.path.rstrip("/")
        if self.export.zfs:
            return QuotaTool("export", "zfs", f"{self.export.zfs.name}/{self.name}", path)
        return QuotaTool("export", "kernel", path, path)

    def collectors(self) -> tuple[str, ...]:
        return ("nfs", "zfs") if self.export.zfs else ("nfs",)

    @property
    def shows_quotas(self) -> bool:
        """True if the server answers clients that ask for a user's limits; rquotad does not know those of ZFS."""
        return bool(self.quotas) and self.export.zfs is None

    @property
    def sources(self) -> tuple[str, ...]:
        return (f"[{self.server}]:{self.path}" if ":" in self.server else f"{self.server}:{self.path}",)

    @property
    def server_hosts(self) -> Hosts:
        """The hosts of a failover pair; a single server is found by its role."""
        return self.failover.hosts if self.failover else ()

    @property
    def devices(self) -> tuple[str, ...]:
        pool = self.export.zfs
        shared = (self.failover.device,) if self.failover else ()
        return (*shared, *pool.disks, *pool.log, *pool.cache) if pool else shared

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        result: list[tuple[Scope, str]] = []
        if self.failover:
            result += [("serve", "nfs_server"), ("serve", "failover"), ("serve", self.failover.filesystem)]
        if self.export.zfs is not None:
            result += [("export", "kernel_headers"), ("export", "zfs")]
        elif self.quotas:
            result += [("export", "quota"), ("export", "rquotad")]
        return tuple(result)

    @property
    def server_secrets(self) -> tuple[tuple[str, SecretFile], ...]:
        if self.failover is None:
            return ()
        return (("corosync", SecretFile(AUTHKEY, "0400")), ("bmc", SecretFile(BMC_PASSWORD, "0400")))

    def listening(self, entries: Mapping[str, Entry]) -> Iterator[Listening]:
        """A pair serves all entries with its address, and each of them may be exported to networks of its own."""
        protocols = ports()["nfs"].protocols
        if self.failover is None:
            networks = self.export.networks
            yield Listening("export", "nfs", str(listening_port([self], rdma=False)), protocols, networks)
            for service in ("rpcbind", "rquotad") if self.shows_quotas else ():
                row = ports()[service]
                yield Listening("export", service, row.span, row.protocols, networks)
            return
        shares = [entry for name in self.failover.shares if isinstance(entry := entries[name], Nfs)]
        admitted = dict.fromkeys(network for share in shares for network in share.export.networks)
        yield Listening("serve", "nfs", str(listening_port(shares, rdma=False)), protocols, tuple(admitted))
        corosync = ports()["corosync"]
        yield Listening("serve", "corosync", corosync.span, corosync.protocols)

    def manual_steps(self, _: str) -> Iterator[str]:
        if self.failover:
            hosts = self.failover.hosts
            yield (
                f"Set up the failover pair of {self.name}: clustergen-failover {self.name} format on {hosts[0]},"
                f" start on {compress(hosts)}, then apply and check on {hosts[0]}."
            )


def _default_port(*, rdma: bool) -> int:
    return ports()["nfs-rdma" if rdma else "nfs"].port


def stated_port(entries: Iterable[Nfs], *, rdma: bool) -> int | None:
    """The port of the one server of these entries; a rule refuses entries that differ."""
    return next((entry.port for entry in entries if entry.port_at and entry.rdma == rdma), None)


def listening_port(entries: Iterable[Nfs], *, rdma: bool) -> int:
    """The same with the default."""
    return stated_port(entries, rdma=rdma) or _default_port(rdma=rdma)


def resolve(name: str, sections: Mapping[str, manifest.Nfs], _: Cluster) -> Nfs:
    section, path = sections[name], ("storage", name)
    export = section.export
    return resolved(
        Nfs,
        name,
        section,
        port=section.port or _default_port(rdma=section.rdma),
        port_at=(*path, "port") if section.port else None,
        export=copied(
            Export,
            export,
            at=(*path, "export") if export.model_fields_set else None,
            zfs=_pool(export.zfs, (*path, "export", "zfs", "layout")) if export.zfs else None,
        ),
        failover=_failover(section, sections),
    )


def _pool(pool: manifest.ZfsPool, layout: ManifestPath) -> ZfsPool:
    return copied(
        ZfsPool,
        pool,
        layout_at=layout if "layout" in pool.model_fields_set else None,
        vdev_width=pool.vdev_width or len(pool.disks),
        properties={**_PROPERTIES, **texts(pool.properties)},
        arc_max_bytes=pool.arc_max.value if pool.arc_max else None,
    )


def _failover(section: manifest.Nfs, sections: Mapping[str, manifest.Nfs]) -> Failover | None:
    if (pair := section.failover) is None:
        return None
    shares = (name for name, other in sections.items() if other.server == section.server)
    return copied(
        Failover,
        pair,
        hosts=tuple(expand(pair.servers)),
        size_bytes=pair.size.value if pair.size else None,
        shares=tuple(shares),
    )


FILE_SYSTEM = FileSystem(
    kind="nfs",
    client_group="nfs_client",
    server_group="nfs_failover",
    packages=("nfs_client",),
    repositories=("zfs",),
    monitored_units=("pacemaker|corosync", "zfs-.+"),
    lab_units=("zfs*", "nfs-*", "rpc*", "quotarpc.service", "nfsdcld.service"),
    lab_packages=("zfs", "nfs_client", "nfs_server", "rquotad", "failover"),
)
