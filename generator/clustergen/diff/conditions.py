"""Conditions of the catalogue's tables that a slurm.conf meets or not: `PreemptType=preempt/qos`, `Key~word|word`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.slurm_meanings import meaning
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.lines import own_lines
from clustergen.diff.values import canonical
from clustergen.slurmconf.config import Config

_FILE = "slurm.conf"
_TERM = re.compile(r"(\w+)(!?)([=~])(\S+)")


class Conditions:
    """The settings of one slurm.conf in lines of its own, with Slurm's defaults."""

    def __init__(self, config: Config, release: SlurmRelease) -> None:
        self._release = release
        self._stated = own_lines(_FILE, config, leave=frozenset(("nodename", "partitionname")))

    def of(self, jobs: Iterable[AffectedJobs]) -> tuple[AffectedJobs, ...]:
        """The jobs whose condition holds."""
        return tuple(each for each in jobs if not each.condition or self._holds(each.condition))

    def words(self, key: str) -> frozenset[str]:
        """The words of a list, in lower case and without their values."""
        stated = self._stated.get(key) or slurm.default(_FILE, "", key, self._release) or ""
        return frozenset(word.strip().partition("=")[0].lower() for word in stated.split(","))

    def _holds(self, condition: str) -> bool:
        return all(self._is(*match.groups()) for match in _TERM.finditer(condition))

    def _is(self, key: str, negated: str, operator: str, value: str) -> bool:
        if operator == "~":
            return bool(self.words(key) & set(value.split("|"))) is not bool(negated)
        how = meaning(_FILE, "", key)
        stated = self._stated.get(key) or slurm.default(_FILE, "", key, self._release) or ""
        return (canonical(how, key, stated) == canonical(how, key, value)) is not bool(negated)
