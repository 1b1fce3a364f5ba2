"""DCGM: fields for the exporter, and clock events."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.gpu_health import GENERATIONS, Generation, generations
from clustergen.catalogue.tables import NOTHING, cells, keyed, listed
from clustergen.catalogue.versions import DcgmVersion
from clustergen.records import record

FIRST = DcgmVersion("3.0")
LAST = DcgmVersion("4.6")
"""The releases that were read."""


@record
class DcgmField:
    """One line for the exporter's list of counters."""

    field: str
    id: int | None
    """DCGM's number; None for a field that the exporter makes itself."""
    kind: Literal["gauge", "counter", "label"]
    unit: str
    default_on: bool
    """True: the exporter's list has it; an alert on any other needs a line of ours."""
    profiling: bool
    """Needs the profiling counters, which GPUs outside the data centre lack."""
    help: str
    """Never with a comma: the list is comma separated without quotes."""
    since: DcgmVersion | None = None
    removed: DcgmVersion | None = None
    newer: str = ""
    """The name from 4.6 on; the old one still works there."""
    generations: frozenset[Generation] = frozenset(GENERATIONS)
    """Of GPUs that report a value."""
    unverified: frozenset[str] = NOTHING

    def reported_by(self, where: Generation | None) -> bool:
        """True if GPUs of a generation report it; of an unknown one, only what all report."""
        return where in self.generations if where else len(self.generations) == len(GENERATIONS)

    def known_in(self, version: DcgmVersion) -> bool:
        return version.within(self.since, self.removed)


@record
class NvlinkCounter:
    """One NVLink error counter that an alert watches: it fires on growth by more than `above` in `window_min`."""

    name: str
    field: str
    alert: str
    window_min: int
    above: int
    unverified: frozenset[str] = NOTHING


def _version(text: str) -> DcgmVersion | None:
    return DcgmVersion(text) if text else None


dcgm_fields = keyed("dcgm_fields.tsv", DcgmField, lambda row: row.field, generations=generations)
"""The fields that are worth exporting, by name, in the order of a counter list."""


@cache
def _names() -> dict[str, tuple[str, str]]:
    """Field → since and removed, as text."""
    return {field: (since, removed) for field, _, since, removed, _ in cells("dcgm_names.tsv")[1]}


def dcgm_name_known(name: str, version: DcgmVersion) -> bool:
    """True if that release has a field of the name at all. The exporter does not start on any other."""
    if name in dcgm_fields():
        return dcgm_fields()[name].known_in(version)
    if name not in _names():
        return False
    since, removed = map(_version, _names()[name])
    return version.within(since, removed)


def dcgm_names() -> tuple[str, ...]:
    """Every field name of any release read, for suggestions."""
    return tuple(_names())


nvlink_counters = listed("nvlink_counters.tsv", NvlinkCounter)
"""NVLink error counters of all generations."""
