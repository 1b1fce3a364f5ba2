"""Settings of accounts, users and QOS: sacctmgr's name of each, its form, the manifest's field, its name in a dump."""

from __future__ import annotations

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


def alias_of(entity: Entity, name: str) -> SacctmgrOption | None:
    """The setting that sacctmgr reads under a short name: MaxJobsPU, MaxTRES, MaxWall."""
    plain = _long(name)
    matches = [option for option in _options()[entity] if plain and _long(option.name).startswith(plain)]
    return next((same for same in matches if _long(same.name) == plain), matches[0] if len(matches) == 1 else None)


def _long(name: str) -> str:
    lower = name.lower()
    for short, word in (("pu", "peruser"), ("pa", "peraccount")):
        if lower.endswith(short):
            return lower.removesuffix(short) + word
    return lower


def option(entity: Entity, name: str) -> SacctmgrOption | None:
    """The setting of that name, whatever its case."""
    return next((row for row in _options()[entity] if row.name.lower() == name.lower()), None)
