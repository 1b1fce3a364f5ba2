"""Settings of accounts, users and QOS: sacctmgr's name of each, its form, the manifest's field, its name in a dump."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from clustergen.catalogue.tables import table
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record

Entity = Literal["association", "qos"]
Form = Literal["count", "minutes", "seconds", "tres", "factor", "list", "flags", "name", "share", "mode", "text"]
AS_PARENT = 0x7FFFFFFF
"""Slurm's number for the shares of the account above."""
_OLD = re.compile(r"(grp|max|min)(cpu|mem|node)(?:ory|s)?((?:run)?(?:mins)?(?:per.*)?)")
_SHORTEST = 4  # letters; with fewer sacctmgr has its own order
_LIMITS = ("count", "minutes", "tres")


@record
class SacctmgrOption:
    """One setting. An association is what Slurm keeps of an account, or of a user in an account."""

    entity: Entity
    name: str
    form: Form
    field: str
    """The manifest's field; empty: only `options` has it."""
    dump: str
    since: SlurmRelease

    @property
    def is_limit(self) -> bool:
        """True if it counts only where limits are enforced."""
        return self.form in _LIMITS and self.name not in ("Priority", "PreemptExemptTime")


@cache
def _options() -> Mapping[Entity, tuple[SacctmgrOption, ...]]:
    by_entity: dict[Entity, list[SacctmgrOption]] = {}
    for option in table("sacctmgr_options.tsv", SacctmgrOption):
        by_entity.setdefault(option.entity, []).append(option)
    return {entity: tuple(options) for entity, options in by_entity.items()}


def options(entity: Entity, release: SlurmRelease | None = None) -> tuple[SacctmgrOption, ...]:
    """All settings, or those that a release has."""
    return tuple(option for option in _options()[entity] if release is None or option.since <= release)


def option(entity: Entity, name: str) -> SacctmgrOption | None:
    """The setting of that name, whatever its case; PU stands for PerUser, and so on."""
    plain = _long(name)
    return next((row for row in _options()[entity] if _long(row.name) == plain), None)


def alias_of(entity: Entity, name: str) -> tuple[SacctmgrOption, str] | None:
    """The setting that sacctmgr reads under the first letters of its name, as MaxWall, or under a name from before
    TRES, and in that case the TRES: GrpCPUs is cpu in GrpTRES.
    """
    plain, tres = _long(name), ""
    if old := _OLD.fullmatch(plain):
        plain, tres = f"{old[1]}tres{old[3]}", old[2]
    matches = [row for row in _options()[entity] if len(plain) >= _SHORTEST and _long(row.name).startswith(plain)]
    return (matches[0], tres) if matches else None


def _long(name: str) -> str:
    lower = name.lower()
    for short, word in (("pu", "peruser"), ("pa", "peraccount"), ("pj", "perjob"), ("pn", "pernode")):
        if lower.endswith(short):
            return lower.removesuffix(short) + word
    return lower
