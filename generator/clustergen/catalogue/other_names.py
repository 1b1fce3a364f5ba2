"""Names that people try as keys of the manifest, and what these are called there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from clustergen.catalogue.tables import table
from clustergen.records import record

_ANY = "<name>"


@record
class OtherName:
    """Keys that a section does not have, and what to write for each of them."""

    section: str
    """`slurm.qos.<name>`, where any entry may stand for <name>; empty: the top level."""
    names: tuple[str, ...]
    hint: str


@cache
def _by_name() -> dict[str, tuple[OtherName, ...]]:
    names: dict[str, tuple[OtherName, ...]] = {}
    for row in table("other_names.tsv", OtherName):
        for name in row.names:
            names[name] = (*names.get(name, ()), row)
    return names


def other_name(section: Sequence[str], name: str) -> OtherName | None:
    """The path that is meant by a name in a section of the manifest: the keys that lead to it, those of entries
    included.
    """
    plain = name.casefold().replace("_", "").replace("-", "")
    return next((row for row in _by_name().get(plain, ()) if _leads_to(section, row.section)), None)


def _leads_to(section: Sequence[str], pattern: str) -> bool:
    parts = pattern.split(".") if pattern else []
    return len(parts) == len(section) and all(one in (part, _ANY) for part, one in zip(section, parts, strict=True))
