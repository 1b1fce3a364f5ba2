"""Contributions of NFS to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon, Package, PackageOf, Service, Unit
from clustergen.cluster.exports import server_of
from clustergen.cluster.groups import entry_group
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ManifestPath
from clustergen.features.storage.nfs.resolved import Nfs, listening_port
from clustergen.features.storage.nfs.routes import served


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    """Of the nodes with the role nfs-server, which have one configuration."""
    entries = served(cluster).values()
    stated = (entry.port_at for entry in entries if entry.port_at and not entry.rdma)
    yield _daemon("the NFS server", listening_port(entries, rdma=False), next(stated, None))
    if any(entry.shows_quotas for entry in entries):
        yield _daemon("rpcbind", ports()["rpcbind"].port)
        yield _daemon("rpc.rquotad", ports()["rquotad"].port)


def _daemon(name: str, port: int, port_at: ManifestPath | None = None) -> Daemon:
    return Daemon(port=port, port_at=port_at, name=name, group="nfs_server", source=None)


def services(_: Cluster) -> Iterator[Service]:
    yield Service("nfs_server", "nfs-server")


def units(cluster: Cluster) -> Iterator[Unit]:
    """ZFS's daemon, which puts hot spares in and degrades disks with errors, and the timers that find these."""
    for name, entry in cluster.entries(Nfs).items():
        if (pool := entry.export.zfs) and server_of(cluster, entry):
            yield Unit(entry_group("export", name), "zfs-zed.service")
            if pool.scrub != "never":
                yield Unit(entry_group("export", name), f"zfs-scrub-{pool.scrub}@{pool.name}.timer")


def packages(cluster: Cluster) -> Iterator[Package]:
    """quota(1), for commands of the guide; a server elsewhere is assumed to answer it."""
    entries = cluster.entries(Nfs).values()
    if any(entry.shows_quotas or server_of(cluster, entry) is None for entry in entries):
        yield Package("user_node", "quota")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("nfs-server.service", "nfs_server")
