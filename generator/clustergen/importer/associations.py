"""Common parts of QOS and accounts: values of the dump in the manifest's form, and those without a place there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.sacctmgr import Entity, Form, SacctmgrOption
from clustergen.diagnostics import ManifestPath
from clustergen.importer.draft import Draft, Origin, Value
from clustergen.importer.forms import duration, fits, number, takes, words
from clustergen.importer.sacctmgr import Entry
from clustergen.manifest.base import Phrase, Tres
from clustergen.manifest.model import Manifest
from clustergen.units import Duration
from clustergen.units.digits import whole

_SHOWN = 3
_NUMBER = re.compile(r"([0-9]{1,18})([KMGTP]?)")
_MIB = {"": 1, "M": 1, "G": 1 << 10, "T": 1 << 20, "P": 1 << 30}
REMOVED_BY_SCRIPT = "clustergen-accounts removes it from the database"
"""Of what the manifest has a field for, and cannot say."""

Fields = dict[str, tuple[ManifestPath, Callable[[str], Value | None] | None]]
"""Name in a dump → the path of a field or option, and how a text becomes its value: None where it cannot say that. None
in place of that: a field with a number for each resource.
"""
_FACTOR = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_LONGEST = 1 << 31
_PLACES: dict[Entity, str] = {"association": "slurm.accounts.NAME", "qos": "slurm.qos.NAME"}


def fields_of(entity: Entity, without: Iterable[str] = ()) -> Fields:
    """The settings of associations or QOS, by their names in a dump."""
    return {
        option.dump: (_path(option), _reader(entity, option))
        for option in sacctmgr.options(entity)
        if option.name not in without
    }


def _reader(entity: Entity, option: SacctmgrOption) -> Callable[[str], Value | None] | None:
    """How a text becomes the option's value, with the bounds of the manifest's field where it has one."""
    convert = seconds if option.name == "PreemptExemptTime" else _CONVERT[option.form]
    if convert is None or not option.field:
        return convert

    def read(text: str) -> Value | None:
        value = convert(text)
        return value if value is not None and takes(Manifest, f"{_PLACES[entity]}.{option.field}", value) else None

    return read


def _path(option: SacctmgrOption) -> ManifestPath:
    return (option.field,) if option.field else ("options", option.name)


def seconds(text: str) -> Value | None:
    """A dump counts seconds, a table says `00:02:00`."""
    seconds = whole(text) if text.isascii() and text.isdigit() else _LONGEST
    return Duration(seconds).slurm() if seconds < _LONGEST else duration(text)


def _factor(text: str) -> Value | None:
    return float(text) if _FACTOR.fullmatch(text) else None


class Unsupported:
    """Settings that the manifest has no place for, told by key: a site has the same limit for hundreds of users."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._entries: dict[tuple[str, str, str], list[tuple[Entry, str]]] = {}

    def add(self, entry: Entry, key: str, text: str, why: str = "the manifest has no field for it") -> None:
        self._entries.setdefault((entry.kind, key, why), []).append((entry, text))

    def report(self) -> bool:
        """True if there was anything."""
        for (kind, key, why), entries in self._entries.items():
            first, text = entries[0]
            if len(entries) == 1:
                line = f"{key}={text} of {_ONE[kind]} {_called(first)}"
            else:
                shown = ", ".join(f"{_called(entry)}: {value}" for entry, value in entries[:_SHOWN])
                more = ", …" if len(entries) > _SHOWN else ""
                line = f"{key} of {len(entries)} {_PLURAL[kind]} ({shown}{more})"
            self._draft.note("left-out", f"{line}: {why}", first.place)
        return bool(self._entries)


_ONE = {"QOS": "QOS", "Account": "account", "User": "user", "Cluster": "account"}
_PLURAL = {"QOS": "QOS", "Account": "accounts", "User": "users", "Cluster": "accounts"}


def _called(entry: Entry) -> str:
    if entry.kind == "User":
        return f"{entry.name} in {entry.account}"
    return "root" if entry.kind == "Cluster" else entry.name


def import_fields(
    draft: Draft, parent: ManifestPath, entry: Entry, fields: Fields, silent: dict[str, str], unsupported: Unsupported
) -> None:
    """The settings of an entry that have a field; the others are reported, except those that equal the default."""
    for key, text in entry.options.items():
        if text in ("", silent.get(key)):
            continue
        if key not in fields:
            unsupported.add(entry, key, text)
            continue
        path, convert = fields[key]
        if convert is None and path[0] == "options":
            draft.set((*parent, *path), text, [origin(entry, key, text)], claim=False)
        elif convert is None:
            _limits(draft, (*parent, *path), entry, key, text, unsupported)
        elif (value := convert(text)) is not None:
            draft.set((*parent, *path), value, [origin(entry, key, text)], claim=False)
        elif convert is phrase:
            unsupported.add(
                entry, key, text, "contains characters that a manifest does not allow; the database keeps it"
            )
        else:
            unsupported.add(entry, key, text, f"the manifest has no field for it; {REMOVED_BY_SCRIPT}")


def origin(entry: Entry, key: str, text: str) -> Origin:
    file, _, line = entry.place.rpartition(":")
    return Origin(file=file, line=int(line), block=entry.kind, name=entry.name, key=key, text=text)


def _limits(draft: Draft, parent: ManifestPath, entry: Entry, key: str, text: str, unsupported: Unsupported) -> None:
    for word in text.split(","):
        name, _, amount = word.partition("=")
        counted = _NUMBER.fullmatch(amount)
        in_mib = name == "mem" or name.startswith("bb/")
        unit = _MIB.get(counted[2]) if counted and (in_mib or not counted[2]) else None
        if counted is None or unit is None or not fits(name, Tres):
            unsupported.add(entry, key, word, f"not a resource with a whole number; {REMOVED_BY_SCRIPT}")
        else:
            draft.set((*parent, name), whole(counted[1]) * unit, [origin(entry, key, word)], claim=False)


def phrase(text: str) -> Value | None:
    return text if fits(text, Phrase) else None


_CONVERT: dict[Form, Callable[[str], Value | None] | None] = {
    "count": number,
    "minutes": duration,
    "seconds": seconds,
    "tres": None,
    "factor": _factor,
    "list": words,
    "flags": words,
    "mode": str.lower,
    "name": phrase,
    "text": phrase,
    "share": None,
}
