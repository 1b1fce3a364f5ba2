"""Slurm's files as the shared rules ask for them, be they a manifest's or those of a directory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.slurmconf.scalars import NO_LIMIT, unsigned
from clustergen.slurmrules.remarks import Remark
from clustergen.slurmrules.values import HIGHEST


class Judgement(NamedTuple):
    """A remark, and the key that it is about; a key that no file states stands for the whole file."""

    key: str
    remark: Remark
    file: str = "slurm.conf"


class Conf(ABC):
    """Keys in any case."""

    release: SlurmRelease

    @abstractmethod
    def stated(self, key: str, file: str = "slurm.conf") -> str | None:
        """The value that a file has for a key of its own lines; None where it has none."""

    @abstractmethod
    def is_beside(self, name: str) -> bool:
        """True if that file is in the directory of slurm.conf."""

    @property
    @abstractmethod
    def has_gpus(self) -> bool:
        """True if some node has GPUs."""

    def has(self, behaviour: str) -> bool:
        """True if the release does what a row of slurm_behaviour.tsv describes."""
        return self.release.has(behaviour)

    def knows(self, key: str) -> bool:
        """True if the release reads the key of slurm.conf."""
        row = slurm.key("slurm.conf", key)
        return row is not None and row.state(self.release) == "known"

    def text(self, key: str) -> str:
        """The value of slurm.conf, or the release's default; empty where there is neither."""
        stated = self.stated(key)
        return (slurm.default("slurm.conf", "", key, self.release) or "") if stated is None else stated

    def words(self, key: str) -> list[str]:
        """The words of a list, in lower case and without their values."""
        return [part.strip().partition("=")[0].lower() for part in self.text(key).split(",") if part.strip()]

    def plugin(self, key: str) -> str:
        """The bare name of a plugin, in lower case: `cons_tres`."""
        return bare(self.text(key).strip().lower())

    def plugins(self, key: str) -> list[str]:
        """The bare names of a list of plugins, in lower case."""
        return [*map(bare, self.words(key))]

    def number(self, key: str) -> int | None:
        """The stated number; None where there is none."""
        return integer(self.stated(key))


def bare(word: str) -> str:
    """A plugin's name without its family: `cgroup` of `task/cgroup`."""
    return word.rpartition("/")[2]


def integer(text: str | None) -> int | None:
    """A whole number as Slurm reads it, the highest for INFINITE; None for what is none."""
    if text is not None and text.lower() in NO_LIMIT:
        return HIGHEST["uint64"]
    return unsigned(text) if text is not None else None
