"""What a single NFS server and a failover pair write alike."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record

RDMA_PORT = 20049


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
    rdma_port: int | None
    exports: str


@record
class Domain:
    """The NFSv4 domain; client and server must agree on it."""

    domain: str


def domain_of(cluster: Cluster) -> Domain | None:
    domain = cluster.manifest.networks.management.domain
    return Domain(domain) if domain else None
