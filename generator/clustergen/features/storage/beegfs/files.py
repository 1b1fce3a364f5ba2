"""BeeGFS clients, 7.4 and 8: the mount, beegfs-client.conf, the helper daemon of 7.4.

The mount is a unit of its own and not a line of beegfs-mounts.conf, because only the package beegfs-client has a
service that reads that file; beegfs-client-dkms has none. Where that service exists it still builds and loads the
kernel module, which is all that an empty beegfs-mounts.conf leaves it to do.
"""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.beegfs import servers
from clustergen.features.storage.beegfs.network import Pairs, authentication, split_port, yes
from clustergen.features.storage.beegfs.resolved import Beegfs
from clustergen.records import record
from clustergen.render.effects import Effect, drain, remount, restart
from clustergen.render.file import Context, File
from clustergen.render.formats import BEEGFS
from clustergen.render.mounts import MountUnit, Source, remote_mount
from clustergen.render.unit_names import mount_unit


def mount_units(_: Cluster, entry: Beegfs, __: NodeType) -> dict[str, MountUnit]:
    services = ["beegfs-client.service"]
    if not entry.is_8:
        services.insert(0, "beegfs-helperd.service")
    return remote_mount(
        entry,
        Source(
            what="beegfs_nodev",
            kind="beegfs",
            options=[f"cfgFile=/etc/beegfs/{entry.client}.conf", "relatime"],
            wants=services,
            after=["openibd.service", "rdma-hw.target"],
            timeout="10min",
            note="beegfs-client.service builds and loads the kernel module; with beegfs-client-dkms there is none.",
        ),
    )


@record
class Setting:
    """One line of a BeeGFS configuration."""

    key: str  # padded, so that the signs stand below each other
    value: str


@record
class Part:
    """Lines under a comment."""

    title: str
    settings: tuple[Setting, ...]


@record
class ClientConf:
    """beegfs-client.conf; keys that are not in it keep the release's own defaults."""

    version: str
    mount: str
    parts: tuple[Part, ...]


def client_conf(_: Cluster, entry: Beegfs) -> dict[str, ClientConf] | None:
    parts = _parts(entry)
    options = dict(entry.client_options)
    width = max(len(key) for key in [*options, *(key for _, pairs in parts for key, _ in pairs)])
    ours = [(title, [(key, options.pop(key, value)) for key, value in pairs]) for title, pairs in parts]
    made = tuple(
        Part(title, tuple(Setting(key.ljust(width), value) for key, value in pairs if value))
        for title, pairs in [*ours, ("From the manifest", list(options.items()))]
        if pairs
    )
    return {entry.client: ClientConf(entry.version, entry.mount, made)}


def _parts(entry: Beegfs) -> list[tuple[str, Pairs]]:
    """Our keys under their titles; an empty value leaves the key out."""
    host, port = split_port(entry.mgmtd)
    return [
        ("Management server; mount.beegfs reads this line: nothing else may stand on it", [("sysMgmtdHost", host)]),
        ("Ports", _ports(entry, port)),
        ("The shared secret, the same on all clients and servers", authentication(entry)),
        (
            "Networks",
            [
                ("connUseRDMA", yes(entry.rdma)),
                ("connInterfacesFile", f"/etc/beegfs/{entry.client}.interfaces" if entry.interfaces else ""),
                ("connNetFilterFile", f"/etc/beegfs/{entry.client}.netfilter" if entry.net_filter else ""),
            ],
        ),
        ("Client", [("quotaEnabled", yes(entry.quota))]),
    ]


def _ports(entry: Beegfs, mgmtd: str) -> Pairs:
    client = str(entry.client_port)
    if entry.is_8:
        return [("connClientPort", client), ("connMgmtdPort", mgmtd)]
    return [("connClientPortUDP", client), ("connMgmtdPortTCP", mgmtd), ("connMgmtdPortUDP", mgmtd)]


@record
class Lines:
    """A file of one item per line."""

    mount: str
    lines: tuple[str, ...]


def interfaces(_: Cluster, entry: Beegfs) -> dict[str, Lines] | None:
    if not entry.interfaces:
        return None
    return {entry.client: Lines(entry.mount, entry.interfaces)}


def net_filter(_: Cluster, entry: Beegfs) -> dict[str, Lines] | None:
    if not entry.net_filter:
        return None
    return {entry.client: Lines(entry.mount, entry.net_filter)}


def _remount(view: ClientConf | Lines) -> Effect:
    return remount(mount_unit(view.mount))


def mounts_conf(cluster: Cluster) -> Context:
    """beegfs-mounts.conf without a mount in it."""
    return {"entries": tuple(entry.mount for entry in cluster.entries(Beegfs).values())}


def autobuild(cluster: Cluster) -> Context | None:
    """Where a client uses RDMA: it has to be built against the RDMA stack that the node runs. `headers`: those of
    DOCA-OFED or MLNX_OFED, where one of them is installed.
    """
    rdma = any(entry.rdma for entry in cluster.entries(Beegfs).values())
    return {"headers": "/usr/src/ofa_kernel/default/include"} if rdma else None


def helperd_conf(cluster: Cluster) -> Context | None:
    """beegfs-helperd.conf of 7.4: name lookups and the log for the kernel module. `secret`: may be empty."""
    return next(({"secret": entry.secret_path} for entry in cluster.entries(Beegfs).values() if not entry.is_8), None)


FILES: tuple[File, ...] = (
    *servers.FILES,
    File("mount/etc/beegfs/{stem}.conf", client_conf, _remount, format=BEEGFS),
    File("mount/etc/beegfs/{stem}.interfaces", interfaces, _remount, format=BEEGFS),
    File("mount/etc/beegfs/{stem}.netfilter", net_filter, _remount, format=BEEGFS),
    File("beegfs_client/etc/beegfs/beegfs-mounts.conf", mounts_conf, format=BEEGFS),
    File("beegfs_client/etc/beegfs/beegfs-client-autobuild.conf", autobuild, drain("beegfs-client.service")),
    File(
        "beegfs_client/etc/beegfs/beegfs-helperd.conf", helperd_conf, restart("beegfs-helperd.service"), format=BEEGFS
    ),
)
