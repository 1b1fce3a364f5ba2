"""What QOS and accounts have in common: values of the books in the manifest's words, and what has no place there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from clustergen.adopt.draft import Draft, Origin, Value
from clustergen.adopt.sacctmgr import Entry
from clustergen.diagnostics import ManifestPath
from clustergen.manifest.base import Phrase

_SHOWN = 3
_NUMBER = re.compile(r"([0-9]{1,18})([KMGTP]?)")
_MIB = {"": 1, "M": 1, "G": 1 << 10, "T": 1 << 20, "P": 1 << 30}
_TRES = re.compile(r"[a-z]+(/[A-Za-z0-9_.:-]+)?")
TAKEN_BACK = "clustergen-accounts takes it from the database"
"""Of what the manifest has a field for, and cannot say."""

Fields = dict[str, tuple[str, Callable[[str], Value | None] | None]]
"""Name in a dump → a field, and how a text becomes its value: None where it cannot say that. None in place of that: a
field with a number for each resource.
"""


class Untold:
    """Settings that the manifest has no place for, told by key: a site has the same limit for hundreds of users."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._found: dict[tuple[str, str, str], list[tuple[Entry, str]]] = {}

    def add(self, entry: Entry, key: str, text: str, why: str = "no field has it") -> None:
        self._found.setdefault((entry.kind, key, why), []).append((entry, text))

    def tell(self) -> bool:
        """Whether there was anything."""
        for (kind, key, why), told in self._found.items():
            first, text = told[0]
            if len(told) == 1:
                words = f"{key}={text} of {_ONE[kind]} {_called(first)}"
            else:
                shown = ", ".join(f"{_called(entry)}: {value}" for entry, value in told[:_SHOWN])
                more = ", …" if len(told) > _SHOWN else ""
                words = f"{key} of {len(told)} {_PLURAL[kind]} ({shown}{more})"
            self._draft.note("left-out", f"{words}: {why}", first.place)
        return bool(self._found)


_ONE = {"QOS": "QOS", "Account": "account", "User": "user", "Cluster": "account"}
_PLURAL = {"QOS": "QOS", "Account": "accounts", "User": "users", "Cluster": "accounts"}


def _called(entry: Entry) -> str:
    if entry.kind == "User":
        return f"{entry.name} in {entry.account}"
    return "root" if entry.kind == "Cluster" else entry.name


def take_fields(
    draft: Draft, here: ManifestPath, entry: Entry, fields: Fields, silent: dict[str, str], untold: Untold
) -> None:
    """The settings of an entry that have a field; the others, but those that say what is so anyway, are told."""
    for key, text in entry.options.items():
        if text in ("", silent.get(key)):
            continue
        if key not in fields:
            untold.add(entry, key, text)
            continue
        field, convert = fields[key]
        if convert is None:
            _limits(draft, (*here, field), entry, key, text, untold)
        elif (value := convert(text)) is not None:
            draft.set((*here, field), value, [origin(entry, key, text)], claim=False)
        elif convert is phrase:
            untold.add(entry, key, text, "has characters that the manifest refuses; the database keeps it")
        else:
            untold.add(entry, key, text, f"no field says it; {TAKEN_BACK}")


def origin(entry: Entry, key: str, text: str) -> Origin:
    file, _, line = entry.place.rpartition(":")
    return Origin(file, int(line), entry.kind, entry.name, key, text)


def _limits(draft: Draft, here: ManifestPath, entry: Entry, key: str, text: str, untold: Untold) -> None:
    for word in text.split(","):
        name, _, amount = word.partition("=")
        counted = _NUMBER.fullmatch(amount)
        in_mib = name == "mem" or name.startswith("bb/")
        unit = _MIB.get(counted[2]) if counted and (in_mib or not counted[2]) else None
        if counted is None or unit is None or not _TRES.fullmatch(name):
            untold.add(entry, key, word, f"no resource with a whole number; {TAKEN_BACK}")
        else:
            draft.set((*here, name), int(counted[1]) * unit, [origin(entry, key, word)], claim=False)


def fits(text: str, form: Any) -> bool:
    """Whether a type of the manifest takes it."""
    try:
        TypeAdapter(form).validate_python(text)
    except ValidationError:
        return False
    return True


def phrase(text: str) -> Value | None:
    return text if fits(text, Phrase) else None
