"""A systemd mount unit for each file system: the part that all of them share.

Mount units and not lines of /etc/fstab, since a unit is a file of its own: it comes and goes with its entry of the
manifest, and other units can be ordered around it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from clustergen.cluster.entry import Entry
from clustergen.records import record
from clustergen.render.effects import Effect, remount
from clustergen.render.formats import Safe
from clustergen.render.unit_names import mount_unit

_BY = {"LABEL": "by-label", "UUID": "by-uuid"}
# Options of which one ends the other although their names do not show it.
_SLOTS = {
    "rw": "ro",
    "soft": "hard",
    "softerr": "hard",
    "relatime": "atime",
    "strictatime": "atime",
    "nfsvers": "vers",
    "writecache": "cache",
    "readcache": "cache",
    "coherent": "cache",
    "forcedirect": "cache",
    "localflock": "flock",
    "mds_namespace": "fs",
    "core": "num_cores",
}


@record
class Source:
    """The source of a mount and its dependencies; units by name, options in order."""

    what: str
    kind: str  # type for mount(8)
    options: Sequence[str]
    wants: Sequence[str] = ()  # may come and go while it is mounted
    requires: Sequence[str] = ()  # unmounted when one of these stops
    after: Sequence[str] = ()  # only ordered
    timeout: str = "3min"
    note: str = ""  # why the unit is as it is, for its reader


@record
class MountUnit:
    """One .mount unit."""

    unit: Safe
    title: str
    note: str
    what: str
    where: str
    kind: str
    options: str
    wants: str
    requires: str
    after: str
    mounts_for: str
    asserted: str  # a path that must be a mount point already; empty: none
    timeout: str
    wanted_by: str
    is_retried: bool  # whether it waits for another machine


def device_path(device: str) -> str:
    """A unit waits for a device by its path; LABEL= and UUID= are known to fstab alone."""
    tag, equals, value = device.partition("=")
    return f"/dev/disk/{_BY[tag]}/{value}" if equals else device


def slot(option: str) -> str:
    """The setting that an option decides: `noatime` and `relatime` both decide `atime`."""
    name = option.partition("=")[0]
    if len(name) > 4:  # noac and the like are names of their own
        name = name.removeprefix("no")
    return _SLOTS.get(name, name)


def merged(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Our options without those that the manifest decides otherwise, then the manifest's, each once."""
    options = list(dict.fromkeys(theirs))
    decided = {slot(option) for option in options}
    return [option for option in dict.fromkeys(ours) if slot(option) not in decided] + options


def remote_mount(entry: Entry, source: Source) -> dict[str, MountUnit]:
    """The mount unit of a file system that comes over the network."""
    ours = ["_netdev", *source.options, "nosuid", "nodev", *_common(entry)]
    after = ["network-online.target", *source.requires, *source.wants, *source.after]
    return _unit(
        entry,
        source,
        options=merged(ours, entry.options),
        wants=["network-online.target", *source.wants],
        after=after,
        wanted_by="remote-fs.target",
    )


def local_mount(entry: Entry, source: Source) -> dict[str, MountUnit]:
    """The mount unit of a disk of the node."""
    options = merged([*source.options, "nosuid", "nodev", *_common(entry)], entry.options)
    return _unit(entry, source, options=options, wants=source.wants, after=source.after, wanted_by="local-fs.target")


def bind_mount(entry: Entry, path: str, *, zfs: bool) -> dict[str, MountUnit]:
    """On the server of an export: its directory at the place where the clients see it; with `zfs`, its dataset."""
    after = ["zfs-mount.service"] if zfs else []
    source = Source(path, "none", ["bind"], note="Exported by this node; mounted at the clients' path.")
    options = [*source.options, *(["ro"] if entry.read_only else [])]
    return _unit(
        entry,
        source,
        options=options,
        wants=after,
        after=after,
        wanted_by="remote-fs.target",
        mounts_for=path,
        asserted=path if zfs else "",
    )


def _common(entry: Entry) -> list[str]:
    return ["ro"] if entry.read_only else []


def _unit(
    entry: Entry,
    source: Source,
    *,
    options: Iterable[str],
    wants: Iterable[str],
    after: Iterable[str],
    wanted_by: str,
    mounts_for: str = "",
    asserted: str = "",
) -> dict[str, MountUnit]:
    unit = mount_unit(entry.mount)
    made = MountUnit(
        unit=unit,
        title=f"File system {entry.name}",
        note=source.note,
        what=source.what,
        where=posixpath.normpath(entry.mount),
        kind=source.kind,
        options=",".join(options),
        wants=" ".join(dict.fromkeys(wants)),
        requires=" ".join(dict.fromkeys(source.requires)),
        after=" ".join(dict.fromkeys(after)),
        mounts_for=mounts_for,
        asserted=asserted,
        timeout=source.timeout,
        wanted_by=wanted_by,
        is_retried=wanted_by == "remote-fs.target",
    )
    return {unit.removesuffix(".mount"): made}


def remount_unit(view: MountUnit) -> Effect:
    """The effect of a changed mount unit."""
    return remount(view.unit)
