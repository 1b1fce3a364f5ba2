"""File system clients: BeeGFS's keys, Lustre's tunables, mount options."""

from __future__ import annotations

import re

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.tables import NOTHING, Indexed, keyed
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.records import record


@record
class BeegfsKey:
    """One key of files of BeeGFS."""

    files: tuple[str, ...]
    key: str
    shipped: bool
    """True: the packaged file has it; others appear in the source alone."""
    default: str
    since: BeegfsVersion | None = None
    removed: BeegfsVersion | None = None
    instead: str = ""
    """The key that took its place; both in one file stop the mount."""

    def known_in(self, version: BeegfsVersion) -> bool:
        return version.within(self.since, self.removed)


@record
class LustreTunable:
    """One parameter of a Lustre client, with `*` for its instances; None: not known."""

    name: str
    unit: str
    low: int | None
    high: int | None
    default: int | None
    since: tuple[int, ...] = ()
    """Lustre release, empty where 2.12 has it."""
    note: str = ""
    unverified: frozenset[str] = NOTHING


@record
class MountOption:
    """One mount option."""

    type: str
    """nfs, lustre, beegfs, wekafs, ceph, fuse.ceph, any; or exports, the server's side of NFS."""
    option: str
    takes_value: bool
    values: tuple[str, ...] = ()
    """Words, or ranges as low..high; empty: anything."""
    ignored: bool = False
    refused: bool = False
    """The mount fails with it."""
    note: str = ""
    unverified: frozenset[str] = NOTHING


_beegfs = Indexed("beegfs_keys.tsv", BeegfsKey, lambda row: [(file, row[1]) for file in row[0].split()])
"""By file and key."""


def beegfs_key(file: str, key: str) -> BeegfsKey | None:
    """The key of `beegfs-client.conf`, `beegfs-mgmtd.toml` …; BeeGFS minds the case."""
    return _beegfs.row(file, key)


def beegfs_keys(file: str, version: BeegfsVersion) -> tuple[BeegfsKey, ...]:
    """All keys of the file that the release knows; empty when it has no such file."""
    return tuple(key for key in _beegfs.rows(file) if key.known_in(version))


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("."))) if text else ()


lustre_tunables = keyed("lustre_tunables.tsv", LustreTunable, lambda row: row.name, since=_release)
"""The tunables by name, such as `osc.*.max_rpcs_in_flight`."""


def lustre_tunable(name: str) -> LustreTunable | None:
    """The tunable that a parameter name means: `osc.scratch-OST0000*.max_dirty_mb` is `osc.*.max_dirty_mb`."""
    first, _, last = name.strip().rpartition(".")
    for tunable in lustre_tunables().values():
        prefix, _, final = tunable.name.rpartition(".")
        if final == last and re.fullmatch(re.escape(prefix).replace(r"\*", ".+"), first):
            return tunable
    return None


def lustre_client(os: OperatingSystem) -> tuple[int, ...]:
    """Major and minor number of the first release of Lustre whose client supports the kernel of a system."""
    return _release(os.fact("lustre_client"))[:2]


_options = keyed("mount_options.tsv", MountOption, lambda row: (row.type, row.option))


def mount_option(kind: str, text: str) -> MountOption | None:
    """The option `name` or `name=value` of a kind of file system, or one that any has; an export has only its own."""
    name = text.partition("=")[0].strip()
    return _options().get((kind, name)) or (_options().get(("any", name)) if kind != "exports" else None)


def mount_options(kind: str) -> tuple[MountOption, ...]:
    """The options of a kind of file system, without those that any has."""
    return tuple(option for (of, _), option in _options().items() if of == kind)
