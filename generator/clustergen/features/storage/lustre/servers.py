"""Lustre servers: what clustergen-lustre creates and mounts, and mount units of targets."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.storage.lustre.lnet import nids_of
from clustergen.features.storage.lustre.resolved import Lustre, LustreTarget
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, Effect, window
from clustergen.render.file import Context, File, sbin
from clustergen.render.formats import Safe
from clustergen.render.unit_names import mount_unit

_ORDER = ("MGT", "MDT", "OST")


@record
class Target:
    """One target: where it is, and the words for mkfs.lustre before its device."""

    name: str  # MGS, training-MDT0000: what its label is after the first mount
    backend: str  # ldiskfs, zfs
    device: str
    size_bytes: int  # 0: not stated
    server: str
    standby: str  # with commas; empty: it has none
    unit: Safe
    pool: str
    words: str


@record
class Servers:
    """The values of clustergen-lustre, the same on all servers of one file system."""

    fsname: str
    manager: str  # host of the MGT, where pools are made; empty: elsewhere
    pools: tuple[str, ...]
    targets: tuple[Target, ...]


@record
class TargetMount:
    """The mount unit of one target, on the servers that can have it."""

    entry: str
    name: str
    device: str
    where: str
    options: str
    hosts: tuple[str, ...]
    after: tuple[str, ...]


def target_name(fsname: str, target: LustreTarget) -> str:
    return "MGS" if target.kind == "MGT" else f"{fsname}-{target.kind}{target.index or 0:04x}"


def _place(name: str) -> str:
    """The mount point of a target: the hyphen of its name would be a backslash in the name of its unit's file."""
    return f"/srv/lustre/{name.replace('-', '/')}"


def _words(cluster: Cluster, entry: Lustre, target: LustreTarget) -> str:
    """Options of mkfs.lustre. With --servicenode the target may be mounted first on any of its servers."""
    words = ["--mgs"] if target.kind == "MGT" else [f"--{target.kind.lower()}", f"--fsname={entry.fsname}"]
    if target.kind != "MGT":
        words += [f"--index={target.index}", *(f"--mgsnode={nids}" for nids in entry.mgs)]
    if target.standby:
        words += [f"--servicenode={nids_of(cluster, host, entry)}" for host in (target.server, *target.standby)]
    return " ".join(words)


def _targets(cluster: Cluster, entry: Lustre) -> tuple[Target, ...]:
    ordered = sorted(entry.targets, key=lambda target: (_ORDER.index(target.kind), target.index or 0))
    return tuple(
        Target(
            name=target_name(entry.fsname, target),
            backend="ldiskfs" if target.device.startswith("/") else "zfs",
            device=target.device,
            size_bytes=target.size_bytes or 0,
            server=target.server,
            standby=",".join(target.standby),
            unit=mount_unit(_place(target_name(entry.fsname, target))),
            pool=target.pool,
            words=_words(cluster, entry, target),
        )
        for target in ordered
        if target.device
    )


def values(cluster: Cluster, entry: Lustre) -> dict[str, Servers] | None:
    targets = _targets(cluster, entry)
    manager = next((target.server for target in targets if target.name == "MGS"), "")
    pools = tuple(dict.fromkeys(target.pool for target in targets if target.pool))
    return {entry.name: Servers(entry.fsname, manager, pools, targets)}


def mounts(cluster: Cluster, entry: Lustre) -> dict[str, TargetMount] | None:
    """No unit is started by itself: the service starts those that only one server can have."""
    targets = _targets(cluster, entry)
    units: dict[str, TargetMount] = {}
    for target in targets:
        hosts = (target.server, *filter(None, target.standby.split(",")))
        earlier: list[str] = [other.unit for other in targets if other.name == "MGS" and target.name != "MGS"]
        earlier += ["zfs-import.target"] if target.backend == "zfs" else []
        units[target.unit.removesuffix(".mount")] = TargetMount(
            entry=entry.name,
            name=target.name,
            device=target.device,
            where=_place(target.name),
            options="_netdev,noauto",
            hosts=hosts,
            after=tuple(earlier),
        )
    return units


def _window(view: TargetMount) -> Effect:
    return window(view.entry)


def service(_: Cluster, entry: Lustre) -> dict[str, Context] | None:
    """The oneshot that mounts at boot what has no standby server."""
    return {entry.name: {"entry": entry.name}}


FILES: tuple[File, ...] = (
    sbin("lustre_server", "storage/clustergen-lustre.sh"),
    File("serve/etc/clustergen/lustre-{name}.sh", values, values=True),
    File("serve/etc/systemd/system/{unit}.mount", mounts, _window, source="serve/etc/systemd/system/lustre.mount"),
    File("serve/etc/systemd/system/clustergen-lustre-targets-{name}.service", service, DAEMON_RELOAD),
)
