"""File system clients: BeeGFS's keys, Lustre's tunables, mount options."""

import re
from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import NOTHING, cells, marks, number, rows
from clustergen.catalogue.versions import BeegfsVersion


class BeegfsKey(NamedTuple):
    """One key of one file of BeeGFS."""

    file: str
    key: str
    shipped: bool
    """Whether the packaged file has it; the others are only read by the source."""
    default: str
    since: BeegfsVersion | None = None
    removed: BeegfsVersion | None = None
    instead: str = ""
    """The key that took its place; both in one file stop the mount."""

    def known_in(self, version: BeegfsVersion) -> bool:
        return (self.since is None or version >= self.since) and (self.removed is None or version < self.removed)


class LustreTunable(NamedTuple):
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


class MountOption(NamedTuple):
    """One mount option."""

    type: str
    """nfs, lustre, beegfs, wekafs, ceph, any; or exports, the server's side of NFS."""
    option: str
    takes_value: bool
    values: tuple[str, ...] = ()
    """Words, or ranges as low..high; empty: anything."""
    ignored: bool = False
    note: str = ""
    unverified: frozenset[str] = NOTHING


def _version(text: str) -> BeegfsVersion | None:
    return BeegfsVersion(text) if text else None


@cache
def _beegfs() -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    """The header, and file → key → its row."""
    header, found = cells("beegfs_keys.tsv")
    index: dict[str, dict[str, list[str]]] = {}
    for row in found:
        index.setdefault(row[0], {})[row[1]] = row
    return header, index


@cache
def beegfs_key(file: str, key: str) -> BeegfsKey | None:
    """The key of `beegfs-client.conf`, `beegfs-mgmtd.toml` …; BeeGFS minds the case."""
    header, index = _beegfs()
    row = index.get(file, {}).get(key)
    if row is None:
        return None
    r = dict(zip(header, row, strict=True))
    return BeegfsKey(
        file=file,
        key=key,
        shipped=r["shipped"] == "yes",
        default=r["default"],
        since=_version(r["since"]),
        removed=_version(r["removed"]),
        instead=r["instead"],
    )


def beegfs_keys(file: str, version: BeegfsVersion) -> tuple[BeegfsKey, ...]:
    """All keys of the file that the release knows; empty when it has no such file."""
    names = _beegfs()[1].get(file, {})
    return tuple(key for name in names if (key := beegfs_key(file, name)) is not None and key.known_in(version))


@cache
def lustre_tunables() -> dict[str, LustreTunable]:
    """The tunables by name, such as `osc.*.max_rpcs_in_flight`."""
    return {
        r["name"]: LustreTunable(
            name=r["name"],
            unit=r["unit"],
            low=number(r["min"]),
            high=number(r["max"]),
            default=number(r["default"]),
            since=tuple(map(int, r["since"].split("."))) if r["since"] else (),
            note=r["note"],
            unverified=marks(r["unverified"]),
        )
        for r in rows("lustre_tunables.tsv")
    }


def lustre_tunable(name: str) -> LustreTunable | None:
    """The tunable that a parameter name means: `osc.scratch-OST0000*.max_dirty_mb` is `osc.*.max_dirty_mb`."""
    first, _, last = name.strip().rpartition(".")
    for known in lustre_tunables().values():
        prefix, _, final = known.name.rpartition(".")
        if final == last and re.fullmatch(re.escape(prefix).replace(r"\*", ".+"), first):
            return known
    return None


@cache
def _options() -> dict[tuple[str, str], MountOption]:
    return {
        (r["type"], r["option"]): MountOption(
            type=r["type"],
            option=r["option"],
            takes_value=r["takes"] == "value",
            values=tuple(r["values"].split()),
            ignored=r["state"] == "ignored",
            note=r["note"],
            unverified=marks(r["unverified"]),
        )
        for r in rows("mount_options.tsv")
    }


def mount_option(kind: str, text: str) -> MountOption | None:
    """The option `name` or `name=value` of a kind of file system, or one that any has; an export has only its own."""
    name = text.partition("=")[0].strip()
    return _options().get((kind, name)) or (_options().get(("any", name)) if kind != "exports" else None)


def mount_options(kind: str) -> tuple[MountOption, ...]:
    """The options of a kind of file system, without those that any has."""
    return tuple(option for (of, _), option in _options().items() if of == kind)
