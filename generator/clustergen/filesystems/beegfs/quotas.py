"""The program that sets BeeGFS's quotas, and where it finds the management server."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.filesystems.beegfs.model import Beegfs, secret_path
from clustergen.filesystems.beegfs.network import grpc_address


def tool(cluster: Cluster, name: str, entry: Beegfs) -> tuple[str, dict[str, str]]:
    """The backend of the script, and its environment; beegfs-ctl of 7.4 reads the client's settings instead."""
    if not entry.is_8:
        return "beegfs-ctl", {}
    environment = {"BEEGFS_MGMTD_ADDR": grpc_address(entry.mgmtd)}
    if entry.servers:
        environment["BEEGFS_TLS_CERT_FILE"] = entry.servers.certificate
    if entry.authentication:
        return "beegfs", {**environment, "BEEGFS_AUTH_FILE": secret_path(cluster.manifest.storage, name)}
    return "beegfs", {**environment, "BEEGFS_AUTH_DISABLE": "true"}
