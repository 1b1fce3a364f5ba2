"""Releases that compare: `SlurmRelease("24.11.5") >= SlurmRelease("23.11")`."""

from __future__ import annotations

import re
from functools import cache
from typing import Self

from clustergen.catalogue.tables import table
from clustergen.records import record

_TEXT = re.compile(r"v?(\d+)\.(\d+)(?:[.~+-].*)?", re.ASCII)


class Release(tuple[int, int]):
    """The first two numbers of a version, which is where names and formats change; anything after them is dropped.

    Raises ValueError when the text does not start with two numbers.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a version such as {cls.example()}")
        return super().__new__(cls, (int(match[1]), int(match[2])))

    @classmethod
    def example(cls) -> str:
        return "1.2"

    def __str__(self) -> str:
        return f"{self[0]}.{self[1]}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def within(self, since: Self | None, until: Self | None) -> bool:
        """True if it is `since` or newer, and older than `until`; None is no bound."""
        return (since is None or self >= since) and (until is None or self < until)

    def __getnewargs__(self) -> tuple[str]:  # so that it can be copied
        return (str(self),)


class SlurmRelease(Release):
    """A major release of Slurm, year and month: 24.11 for every 24.11.x."""

    __slots__ = ()

    @classmethod
    def example(cls) -> str:
        return "24.11"

    def __str__(self) -> str:
        return f"{self[0]}.{self[1]:02d}"

    def has(self, behaviour: str) -> bool:
        """True if the release does what a row of slurm_behaviour.tsv describes. KeyError where there is no such row."""
        return self.within(*slurm_behaviour()[behaviour])


@record
class _Behaviour:
    name: str
    since: SlurmRelease | None
    until: SlurmRelease | None


@cache
def slurm_behaviour() -> dict[str, tuple[SlurmRelease | None, SlurmRelease | None]]:
    """Name of a behaviour → the first release that has it, and the first that has it no more."""
    return {row.name: (row.since, row.until) for row in table("slurm_behaviour.tsv", _Behaviour)}


def since(behaviour: str) -> SlurmRelease:
    """The first release that has it, for messages."""
    first = slurm_behaviour()[behaviour][0]
    if first is None:
        raise KeyError(behaviour)
    return first


class NcclVersion(Release):
    """NCCL 2.x."""

    __slots__ = ()

    @classmethod
    def example(cls) -> str:
        return "2.27"


class DcgmVersion(Release):
    """DCGM 3.x or 4.x."""

    __slots__ = ()

    @classmethod
    def example(cls) -> str:
        return "4.5"


class BeegfsVersion(Release):
    """BeeGFS 7.x or 8.x."""

    __slots__ = ()

    @classmethod
    def example(cls) -> str:
        return "7.4"
