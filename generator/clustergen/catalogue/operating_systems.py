"""What differs between the operating systems of the nodes: packages, paths, units, and what their Slurm can do."""

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import NOTHING, rows

_MARK = " [U]"


class OperatingSystem(NamedTuple):
    """One release of one distribution. Its facts are words from the table: `os["chrony_conf"]`, `os.yes("selinux")`."""

    id: str
    facts: dict[str, str]
    unverified: frozenset[str] = NOTHING

    def fact(self, field: str) -> str:
        """The text of a field, empty where the system has no such thing; KeyError for a field that no table row has."""
        return self.facts[field]

    def yes(self, field: str) -> bool:
        """Whether a yes/no field is `yes`; ValueError when it is neither."""
        text = self.facts[field]
        if text not in ("yes", "no"):
            raise ValueError(f"{field} of {self.id} is {text!r}, not yes or no")
        return text == "yes"

    def packages(self, of: str) -> tuple[str, ...]:
        """The packages for `slurmctld`, `slurmd`, `node_exporter` …; empty when the distribution has none."""
        return tuple(self.facts[f"package_{of}"].split())


@cache
def operating_systems() -> dict[str, OperatingSystem]:
    """All known systems by id, such as `debian-12`."""
    facts: dict[str, dict[str, str]] = {}
    unverified: dict[str, set[str]] = {}
    for row in rows("operating_systems.tsv"):
        field = row.pop("field")
        row.pop("source")
        for ident, text in row.items():
            if text.endswith(_MARK):
                unverified.setdefault(ident, set()).add(field)
                text = text.removesuffix(_MARK)
            facts.setdefault(ident, {})[field] = text
    return {i: OperatingSystem(i, f, frozenset(unverified.get(i, ()))) for i, f in facts.items()}


def operating_system(name: str) -> OperatingSystem | None:
    """The system of that id; a point release counts as its release (`rocky-9.4` is `rocky-9`)."""
    known = operating_systems()
    wanted = name.strip().lower()
    if wanted in known:
        return known[wanted]
    family, _, version = wanted.partition("-")
    return known.get(f"{family}-{version.split('.')[0]}")
