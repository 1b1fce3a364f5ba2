"""BeeGFS servers, 7.4 and 8: configuration of management, metadata and storage, and what clustergen-beegfs creates."""

from __future__ import annotations

import json

from clustergen.cluster.model import Cluster
from clustergen.features.storage.beegfs.network import Pairs, authentication, split_port, yes
from clustergen.features.storage.beegfs.resolved import Beegfs, BeegfsServers
from clustergen.records import record
from clustergen.render.file import File, sbin
from clustergen.render.formats import BEEGFS, CONF, Safe

_DATABASE = "/var/lib/beegfs/mgmtd.sqlite"
_DIRECTORY = "/var/lib/beegfs/mgmtd"  # of 7.4
_BY_HAND = "clustergen restarts no server: restart one after the other by hand"


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
class Mirror:
    """A mirror group of two targets, or of two metadata servers; the first is its primary."""

    kind: str
    number: int
    first: int
    second: int


@record
class Servers:
    """The values of clustergen-beegfs, the same on all servers of one file system.

    `management_address`, `secret_file` and `certificate`: how BeeGFS's program reaches the management server of 8;
    `ctl_settings`: the file by which it does with 7.4.
    """

    is_8: bool
    management_host: str
    management_address: str
    secret_file: str
    certificate: str
    ctl_settings: str
    targets: tuple[Target, ...]
    mirrors: tuple[Mirror, ...]


def _conf(title: str, pairs: Pairs) -> ServerConf:
    return ServerConf(title, tuple((key, Safe(value)) for key, value in pairs if value))


def _common(entry: Beegfs) -> Pairs:
    host, port = split_port(entry.mgmtd)
    keys = ["connMgmtdPort"] if entry.is_8 else ["connMgmtdPortTCP", "connMgmtdPortUDP"]
    return [
        ("sysMgmtdHost", host),
        *((key, port) for key in keys),
        *authentication(entry),
        ("connUseRDMA", yes(entry.rdma)),
    ]


def target_directory(mount: str) -> str:
    """Below its mount point, so that a file system that is not mounted shows as a missing target."""
    return f"{mount.rstrip('/')}/beegfs"


def confs(_: Cluster, entry: Beegfs) -> dict[str, ServerConf] | None:
    if (spec := entry.servers) is None:
        return None
    common = _common(entry)
    directories = ",".join(map(target_directory, spec.storage_directories))
    files = {
        "beegfs-meta": [*common, ("storeMetaDirectory", target_directory(spec.metadata_directory))],
        "beegfs-storage": [*common, ("storeStorageDirectory", directories)],
    }
    if not entry.is_8:
        port = split_port(entry.mgmtd)[1]
        ports = [("connMgmtdPortTCP", port), ("connMgmtdPortUDP", port)]
        management = [*ports, *authentication(entry), ("storeMgmtdDirectory", _DIRECTORY)]
        files["beegfs-mgmtd"] = [*management, ("quotaEnableEnforcement", yes(entry.quota))]
    stated = {"beegfs-meta": spec.metadata_options, "beegfs-storage": spec.storage_options}
    made = {
        stem: _conf(
            f"{stem} of BeeGFS {entry.version}. {_BY_HAND}",
            [*pairs, ("storeAllowFirstRunInit", "false"), *stated.get(stem, {}).items()],
        )
        for stem, pairs in files.items()
    }
    if _has_settings(entry, spec):
        made[_settings(entry.name)] = _conf(f"beegfs-ctl in clustergen-beegfs {entry.name}", common)
    return made


def _has_settings(entry: Beegfs, spec: BeegfsServers) -> bool:
    """beegfs-ctl of 7.4 reads a file of clients, which servers do not get; only the mirror groups require it."""
    return bool(spec.mirror) and not entry.is_8


def _settings(name: str) -> str:
    return f"beegfs-ctl-{name}"


def mgmtd_toml(_: Cluster, entry: Beegfs) -> dict[str, ServerConf] | None:
    if (spec := entry.servers) is None or not entry.is_8:
        return None
    settings: list[tuple[str, object]] = [
        ("db-file", _DATABASE),
        ("beemsg-port", int(split_port(entry.mgmtd)[1])),
        ("tls-cert-file", spec.certificate),
        ("tls-key-file", spec.key),
        ("auth-file", entry.secret_path) if entry.secret_path else ("auth-disable", True),
        ("quota-enable", entry.quota),
    ]
    rows = tuple((key, Safe(json.dumps(value))) for key, value in settings)
    return {"beegfs-mgmtd": ServerConf(f"beegfs-mgmtd of BeeGFS {entry.version}. {_BY_HAND}", rows)}


def targets(spec: BeegfsServers) -> tuple[Target, ...]:
    """IDs follow the position of a server in its list, so append new servers at the end."""
    metadata = [
        Target("meta", host, target_directory(spec.metadata_directory), node, node)
        for node, host in enumerate(spec.metadata, 1)
    ]
    storage = [
        Target("storage", host, target_directory(mount), node, 100 * node + number)
        for node, host in enumerate(spec.storage, 1)
        for number, mount in enumerate(spec.storage_directories, 1)
    ]
    return (*metadata, *storage)


def mirrors(spec: BeegfsServers) -> tuple[Mirror, ...]:
    """Neighbouring servers, which are not the same host. Every second target has its primary on the second server."""
    groups = []
    if "metadata" in spec.mirror:
        groups += [Mirror("meta", node, node, node + 1) for node in range(1, len(spec.metadata), 2)]
    if "storage" in spec.mirror:
        for node in range(1, len(spec.storage), 2):
            for number in range(1, len(spec.storage_directories) + 1):
                pair = (100 * node + number, 100 * (node + 1) + number)
                groups.append(Mirror("storage", pair[0], *(pair if number % 2 else reversed(pair))))
    return tuple(groups)


def values(_: Cluster, entry: Beegfs) -> dict[str, Servers] | None:
    if (spec := entry.servers) is None:
        return None
    return {
        entry.name: Servers(
            is_8=entry.is_8,
            management_host=spec.management,
            management_address=entry.management_address,
            secret_file=entry.secret_path,
            certificate=spec.certificate,
            ctl_settings=f"/etc/beegfs/{_settings(entry.name)}.conf" if _has_settings(entry, spec) else "",
            targets=targets(spec),
            mirrors=mirrors(spec),
        )
    }


FILES: tuple[File, ...] = (
    File("serve/etc/beegfs/{stem}.conf", confs, format=BEEGFS),
    File("serve/etc/beegfs/{stem}.toml", mgmtd_toml, format=CONF, source="serve/etc/beegfs/{stem}.conf"),
    sbin("beegfs_server", "storage/clustergen-beegfs.sh"),
    File("serve/etc/clustergen/beegfs-{name}.sh", values, values=True),
)
