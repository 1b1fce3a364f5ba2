"""Lines that a single NFS server and a failover pair have in common."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.features.storage.nfs.resolved import Nfs, listening_port, stated_port
from clustergen.records import record
from clustergen.render.file import Context


@record
class ExportLine:
    """One directory and who may mount it."""

    path: str
    options: str
    clients: str


@record
class Conf:
    """Section [nfsd] of nfs.conf."""

    threads: int
    version_3: str
    port: int | None  # None: the default
    rdma_port: int | None
    exports: str


def conf_of(entries: Mapping[str, Nfs]) -> Conf:
    """The settings with which one server can serve all entries."""
    values = entries.values()
    return Conf(
        threads=max(entry.export.threads for entry in values),
        version_3="y" if any(entry.version == "3" for entry in values) else "n",
        port=stated_port(values, rdma=False),
        rdma_port=listening_port(values, rdma=True) if any(entry.rdma for entry in values) else None,
        exports=", ".join(entries),
    )


def domain_of(cluster: Cluster) -> Context | None:
    """The NFSv4 domain; client and server must agree on it."""
    domain = cluster.networks.management.domain
    return {"domain": domain} if domain else None
