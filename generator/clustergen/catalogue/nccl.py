"""Names that NCCL reads, by release; and the few of UCX that the generated files set."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.tables import NOTHING, Indexed, keyed, rows
from clustergen.catalogue.versions import NcclVersion
from clustergen.records import record

FIRST = NcclVersion("2.8")
LAST = NcclVersion("2.30")
"""The releases that were read; what a newer one has added is not known here."""
FINDS_GID = NcclVersion("2.21")
"""The first that detects the GID index of RoCE."""
LONGEST_VALUE = 1023
"""Characters of a value that NCCL keeps."""


@record
class NcclParam:
    """One name, as it stands in the environment or in nccl.conf."""

    name: str
    use: Literal["system", "debugging", "other", "plugin"]
    """system: NVIDIA allows it in a system's files; debugging: it must not stay in production; other: undocumented."""
    numeric: bool
    """A number; NCCL takes any other text for 0, without a word."""
    since: NcclVersion | None = None
    removed: NcclVersion | None = None
    defaults: tuple[tuple[NcclVersion | None, int], ...] = ()
    """The default from each release on, oldest first; empty when it is no plain number."""
    values: tuple[str, ...] = ()
    """Words, or ranges as low..high, of which one must match; empty: anything."""
    instead: str = ""

    def known_in(self, version: NcclVersion) -> bool:
        """True if that release reads the name; releases older than 2.8 count as 2.8."""
        return version.within(self.since, self.removed)

    def default(self, version: NcclVersion) -> int | None:
        """The number that the release takes when nothing is said."""
        value = None
        for since, number in self.defaults:
            if since is None or version >= since:
                value = number
        return value

    def accepts(self, text: str) -> bool:
        """True if the value can be right: a number where one is wanted, and among `values` where those are known."""
        if self.numeric and not _is_number(text):
            return False
        return not self.values or any(_matches(value, text) for value in self.values)


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit()


def _matches(value: str, text: str) -> bool:
    low, dots, high = value.partition("..")
    if not dots:
        return text.upper() == value.upper()
    return _is_number(text) and int(low) <= int(text) <= int(high)


@record
class UcxParam:
    """One environment name of UCX."""

    name: str
    default: str
    note: str
    unverified: frozenset[str] = NOTHING


def _default(text: str) -> tuple[NcclVersion | None, int]:
    since, colon, number = text.rpartition(":")
    return (NcclVersion(since) if colon else None, int(number))


_params = Indexed(
    "nccl_params.tsv",
    NcclParam,
    lambda row: [("", row[0])],
    defaults=lambda text: tuple(map(_default, text.split())),
    values=lambda text: tuple(text.split("|")) if text else (),
)


def nccl_names() -> tuple[str, ...]:
    """All names, sorted."""
    return tuple(_params.cells[""])


def nccl_param(name: str) -> NcclParam | None:
    """The parameter of that exact name; NCCL minds the case."""
    return _params.row("", name)


def nccl_params() -> dict[str, NcclParam]:
    """All parameters by name."""
    return {row.name: row for row in _params.rows("")}


@cache
def _never_there() -> dict[str, str]:
    return {r["name"]: r["hint"] for r in rows("nccl_never.tsv")}


def never_there(name: str) -> str | None:
    """The right name for one that articles show but that NCCL as NVIDIA builds it does not read; else None."""
    return _never_there().get(name)


ucx_params = keyed("ucx_params.tsv", UcxParam, lambda row: row.name)
"""The names of UCX that the generated files may set."""
