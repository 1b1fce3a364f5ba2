"""BeeGFS servers, 7.4 and 8: configuration of management, metadata and storage, and the script that creates targets."""

from __future__ import annotations

import json

from clustergen.catalogue.versions import BeegfsVersion
from clustergen.cluster.model import Cluster
from clustergen.filesystems.beegfs.model import Beegfs, BeegfsServers, secret_path
from clustergen.filesystems.beegfs.settings import NEW_KEYS, Pairs, split_port, uses_rdma, yes
from clustergen.hostlist import expand
from clustergen.manifest.mount import Mount
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.formats import BEEGFS, CONF, SHELL, Safe

_DATABASE = "/var/lib/beegfs/mgmtd.sqlite"
_DIRECTORY = "/var/lib/beegfs/mgmtd"  # of 7.4


@record
class ServerConf:
    """A configuration file of a server; keys that are not in it keep the release's own defaults."""

    title: str
    settings: tuple[tuple[str, Safe], ...]


@record
class Target:
    """A metadata or storage target. `node` and `number`: IDs of the server and of the target; metadata has one ID."""

    kind: str
    server: str
    directory: str
    node: int
    number: int


@record
class Servers:
    """The script of all servers of one file system. `database`: what the management server creates."""

    entry: str
    new: bool
    management: str
    database: str
    targets: tuple[Target, ...]


def _is_new(entry: Beegfs) -> bool:
    return BeegfsVersion(entry.version) >= NEW_KEYS


def _conf(title: str, pairs: Pairs) -> ServerConf:
    return ServerConf(title, tuple((key, Safe(value)) for key, value in pairs if value))


def _common(cluster: Cluster, name: str, entry: Beegfs) -> Pairs:
    host, port = split_port(entry.mgmtd)
    keys = ["connMgmtdPort"] if _is_new(entry) else ["connMgmtdPortTCP", "connMgmtdPortUDP"]
    return [
        ("sysMgmtdHost", host),
        *((key, port) for key in keys),
        *_authentication(cluster, name, entry),
        ("connUseRDMA", yes(uses_rdma(cluster, entry))),
    ]


def _authentication(cluster: Cluster, name: str, entry: Beegfs) -> Pairs:
    path = secret_path(cluster.manifest.storage, name) if entry.authentication else ""
    return [("connAuthFile", path), ("connDisableAuthentication", yes(not entry.authentication))]


def target_directory(mount: str) -> str:
    """Below its mount point, so that a file system that is not mounted shows as a missing target."""
    return f"{mount.rstrip('/')}/beegfs"


def confs(cluster: Cluster, name: str, entry: Mount) -> dict[str, ServerConf] | None:
    if not isinstance(entry, Beegfs) or (spec := entry.servers) is None:
        return None
    common = _common(cluster, name, entry)
    directories = ",".join(map(target_directory, spec.storage_directories))
    files = {
        "beegfs-meta": [*common, ("storeMetaDirectory", target_directory(spec.metadata_directory))],
        "beegfs-storage": [*common, ("storeStorageDirectory", directories)],
    }
    if not _is_new(entry):
        _, port = split_port(entry.mgmtd)
        ports = [("connMgmtdPortTCP", port), ("connMgmtdPortUDP", port)]
        management = [*ports, *_authentication(cluster, name, entry), ("storeMgmtdDirectory", _DIRECTORY)]
        files["beegfs-mgmtd"] = [*management, ("quotaEnableEnforcement", yes(entry.quota))]
    return {
        stem: _conf(f"{stem} of BeeGFS {entry.version}", [*pairs, ("storeAllowFirstRunInit", "false")])
        for stem, pairs in files.items()
    }


def mgmtd_toml(cluster: Cluster, name: str, entry: Mount) -> dict[str, ServerConf] | None:
    if not isinstance(entry, Beegfs) or (spec := entry.servers) is None or not _is_new(entry):
        return None
    secret = secret_path(cluster.manifest.storage, name)
    settings: list[tuple[str, object]] = [
        ("db-file", _DATABASE),
        ("beemsg-port", int(split_port(entry.mgmtd)[1])),
        ("tls-cert-file", spec.certificate),
        ("tls-key-file", spec.key),
        ("auth-file", secret) if entry.authentication else ("auth-disable", True),
        ("quota-enable", entry.quota),
    ]
    rows = tuple((key, Safe(json.dumps(value))) for key, value in settings)
    return {"beegfs-mgmtd": ServerConf(f"beegfs-mgmtd of BeeGFS {entry.version}", rows)}


def targets(spec: BeegfsServers) -> tuple[Target, ...]:
    """IDs follow the position of a server in its list, so append new servers at the end."""
    metadata = [
        Target("meta", host, target_directory(spec.metadata_directory), node, node)
        for node, host in enumerate(expand(spec.metadata), 1)
    ]
    storage = [
        Target("storage", host, target_directory(mount), node, 100 * node + number)
        for node, host in enumerate(expand(spec.storage), 1)
        for number, mount in enumerate(spec.storage_directories, 1)
    ]
    return (*metadata, *storage)


def script(_: Cluster, name: str, entry: Mount) -> dict[str, Servers] | None:
    if not isinstance(entry, Beegfs) or (spec := entry.servers) is None:
        return None
    database = _DATABASE if _is_new(entry) else _DIRECTORY
    return {name: Servers(name, _is_new(entry), spec.management, database, targets(spec))}


FILES: tuple[File, ...] = (
    File("serve/etc/beegfs/{stem}.conf", confs, format=BEEGFS),
    File("serve/etc/beegfs/{stem}.toml", mgmtd_toml, format=CONF, source="serve/etc/beegfs/{stem}.conf"),
    File("serve/usr/local/sbin/clustergen-beegfs-{name}", script, mode=0o755, format=SHELL),
)
