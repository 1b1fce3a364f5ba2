"""The program that sets BeeGFS's quotas, and where it finds the management server."""

from __future__ import annotations

from clustergen.filesystems.beegfs.entry import Beegfs


def tool(entry: Beegfs) -> tuple[str, dict[str, str]]:
    """The backend of the script, and its environment; beegfs-ctl of 7.4 reads the client's settings instead."""
    if not entry.is_8:
        return "beegfs-ctl", {}
    environment = {"BEEGFS_MGMTD_ADDR": entry.management_address}
    if entry.servers:
        environment["BEEGFS_TLS_CERT_FILE"] = entry.servers.certificate
    if entry.secret_path:
        return "beegfs", {**environment, "BEEGFS_AUTH_FILE": entry.secret_path}
    return "beegfs", {**environment, "BEEGFS_AUTH_DISABLE": "true"}
