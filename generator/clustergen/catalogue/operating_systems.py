"""Differences between the operating systems of the nodes: packages, paths, units, and features of their Slurm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from clustergen.catalogue import tables
from clustergen.catalogue.tables import NOTHING, rows
from clustergen.feature import ExtensionError, extensions
from clustergen.records import record

X86_64, AARCH64 = "x86_64", "aarch64"

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@record
class OperatingSystem:
    """One release of one distribution. Its facts are the rows of `tables_of(id)`: `os.fact("chrony_conf")`."""

    id: str
    facts: dict[str, str]
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()
    arch: str = X86_64
    """The architecture, as `uname -m` prints it."""

    @property
    def key(self) -> str:
        """Id and architecture: `ubuntu-24.04`, `ubuntu-24.04-aarch64`."""
        return self.id if self.arch == X86_64 else f"{self.id}-{self.arch}"

    def fact(self, field: str) -> str:
        """The text of a field, empty where the system has no such thing; KeyError for a field that its file lacks."""
        return self.facts[field]

    def yes(self, field: str) -> bool:
        """True if a yes/no field is `yes`; ValueError when it is neither."""
        text = self.facts[field]
        if text not in ("yes", "no"):
            raise ValueError(f"{field} of {self.id} is {text!r}, not yes or no")
        return text == "yes"

    def packages(self, of: str) -> tuple[str, ...]:
        """The packages for `slurmctld`, `slurmd`, `node_exporter` …; empty when the distribution has none."""
        return tuple(self.facts[f"package_{of}"].split())


@cache
def architectures() -> dict[str, dict[str, str]]:
    """Architecture → the facts that it adds to an operating system: the names that vendors use for it."""
    return {
        row["id"]: {
            "architecture": row["id"],
            "debian_architecture": row["debian"],
            "cuda_architecture": row["cuda"],
            "doca_architecture": row["doca"],
            "multiarch": row["multiarch"],
        }
        for row in rows("architectures.tsv")
    }


@cache
def operating_systems(arch: str = X86_64) -> dict[str, OperatingSystem]:
    """All operating systems by id, such as `debian-12`, by family, with their paths and packages on an architecture."""
    systems = [_read(path.stem, arch) for path in sorted((tables.DATA / "operating_systems").glob("*.tsv"))]
    return {system.id: system for system in sorted(systems, key=lambda system: system.fact("family"))}


def tables_of(ident: str) -> Iterator[str]:
    """The tables that have the facts of a system: its own, and those that a row `base` names."""
    yield (table := f"operating_systems/{ident}.tsv")
    for row in rows(table):
        if row["field"] == "base":
            yield from tables_of(row["value"])


def _read(ident: str, arch: str) -> OperatingSystem:
    names = architectures()[arch]
    table = _rows_of(ident)
    facts = {
        field: _PLACEHOLDER.sub(lambda match: names.get(match[1], match[0]), row["value"])
        for field, row in table.items()
    }
    facts |= {name: text for name, text in names.items() if name != "multiarch"}
    unverified = frozenset(field for field, row in table.items() if row["unverified"])
    sources = dict.fromkeys(code for row in table.values() for code in row["source"].split())
    return OperatingSystem(ident, facts, unverified, tuple(sources), arch)


@cache
def _rows_of(ident: str) -> dict[str, dict[str, str]]:
    """Field → its row. A row `base` names a system whose facts hold here as well where the file has none: with the
    marks that they have there, and unverified if the row is or `os_confirmed.tsv` does not name this system.
    ExtensionError where an extension repeats one of them.
    """
    fields: dict[str, dict[str, str]] = {}
    for row in rows(table := f"operating_systems/{ident}.tsv"):
        if row["field"] != "base":
            fields[row["field"]] = row
            continue
        base = _rows_of(row["value"])
        _check_extensions(table, row["value"], base)
        for field, of_base in base.items():
            is_confirmed = not row["unverified"] and ident in _confirmed().get(field, ())
            fields[field] = of_base if is_confirmed else {**of_base, "unverified": "value"}
    return fields


@cache
def _confirmed() -> dict[str, frozenset[str]]:
    """Fact → the systems that take it over from their base and for which it was confirmed."""
    return {row["field"]: frozenset(row["systems"].split()) for row in rows("os_confirmed.tsv")}


def _check_extensions(table: str, base: str, facts: Mapping[str, object]) -> None:
    """ExtensionError for a row that an extension adds to the table of a system and that is one of ours in its base."""
    for extension in extensions():
        ours = facts.keys() - {name for other in tables_of(base) for name in tables.names_of(extension, other)}
        if repeated := sorted(ours & tables.names_of(extension, table)):
            both = f"the extension {extension} and the catalogue both have the row {repeated[0]!r}"
            raise ExtensionError(f"{both}: {table} has it from {base}")


def operating_system(name: str, arch: str = X86_64) -> OperatingSystem | None:
    """The system of that id; a point release counts as its release (`rocky-9.4` is `rocky-9`)."""
    systems = operating_systems(arch)
    ident = name.strip().lower()
    if ident in systems:
        return systems[ident]
    family, _, version = ident.partition("-")
    return systems.get(f"{family}-{version.split('.')[0]}")


def releases_of(name: str) -> list[str]:
    """The ids of the same distribution: `rocky-9` for `rocky-10` and `rhel-8`; empty for one that is not supported."""
    family = _family_of(name)
    same = {row["name"].partition("-")[0]: row["os"].partition("-")[0] for row in rows("os_rebuilds.tsv")}
    return [ident for ident in operating_systems() if ident.partition("-")[0] == same.get(family, family)]


def _family_of(name: str) -> str:
    return (re.match(r"[a-z]*", name.strip().lower()) or [""])[0]


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name)


def described_by(name: str) -> str | None:
    """The id under which the catalogue describes a system: `rocky-9` for `rhel9`, or None."""
    ident = name.strip().lower()
    names = {system.facts["codename"]: system.id for system in operating_systems(X86_64).values()}
    if ident and ident in names:
        return names[ident]
    if same := [system for system in operating_systems(X86_64) if _letters(system) == _letters(ident)]:
        return same[0]
    parts = re.match(r"([a-z]*)[ -]?(.*)", ident)
    family, version = parts.groups() if parts else (ident, "")
    if system := operating_system(f"{family}-{version}"):
        return system.id
    release = f"{family}-{version.split('.')[0]}"
    return next((row["os"] for row in rows("os_rebuilds.tsv") if row["name"] == release), None)
