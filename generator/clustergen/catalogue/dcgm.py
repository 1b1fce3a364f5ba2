"""DCGM: fields for the exporter, XID errors, clock events and health watches."""

from functools import cache
from typing import Literal, NamedTuple

from clustergen.catalogue.tables import NOTHING, cells, marks, number, rows
from clustergen.catalogue.versions import DcgmVersion

FIRST = DcgmVersion("3.0")
LAST = DcgmVersion("4.6")
"""The releases that were read."""


class DcgmField(NamedTuple):
    """One line for the exporter's list of counters."""

    field: str
    id: int | None
    """DCGM's number; None for a field that the exporter makes itself."""
    kind: Literal["gauge", "counter", "label"]
    unit: str
    default_on: bool
    """Whether the exporter's own list has it; an alert on any other needs a line of ours."""
    profiling: bool
    """Needs the profiling counters, which GPUs outside the data centre lack."""
    help: str
    """Never with a comma: the list is comma separated without quotes."""
    since: DcgmVersion | None = None
    removed: DcgmVersion | None = None
    newer: str = ""
    """The name from 4.6 on; the old one still works there."""
    unverified: frozenset[str] = NOTHING

    def known_in(self, version: DcgmVersion) -> bool:
        return (self.since is None or version >= self.since) and (self.removed is None or version < self.removed)


class Xid(NamedTuple):
    """One XID error."""

    xid: int
    action: Literal["application", "watch", "drain"]
    """application: the job's own fault; watch: reset when the node is free; drain: take the node out."""
    meaning: str
    unverified: frozenset[str] = NOTHING


class ClockEvent(NamedTuple):
    """One bit of DCGM_FI_DEV_CLOCKS_EVENT_REASONS."""

    bit: int
    name: str
    harmful: bool


class HealthWatch(NamedTuple):
    """One flag of `dcgmi health -s`."""

    flag: str
    watches: str
    settles_s: int
    """Seconds of data that it needs before the first check."""


def _version(text: str) -> DcgmVersion | None:
    return DcgmVersion(text) if text else None


@cache
def dcgm_fields() -> dict[str, DcgmField]:
    """The fields that are worth exporting, by name, in the order of a counter list."""
    return {
        r["field"]: DcgmField(
            field=r["field"],
            id=number(r["id"]),
            kind=r["kind"],  # type: ignore[arg-type]
            unit=r["unit"],
            default_on=r["default_on"] == "yes",
            profiling=r["profiling"] == "yes",
            help=r["help"],
            since=_version(r["since"]),
            removed=_version(r["removed"]),
            newer=r["newer"],
            unverified=marks(r["unverified"]),
        )
        for r in rows("dcgm_fields.tsv")
    }


def dcgm_field(name: str) -> DcgmField | None:
    """The field of that exact name, if it is among `dcgm_fields()`."""
    return dcgm_fields().get(name)


@cache
def _names() -> dict[str, tuple[str, str]]:
    """Field → since and removed, as text."""
    return {field: (since, removed) for field, _, since, removed, _ in cells("dcgm_names.tsv")[1]}


def dcgm_name_known(name: str, version: DcgmVersion) -> bool:
    """Whether that release has a field of the name at all. The exporter does not start on any other."""
    if name in dcgm_fields():
        return dcgm_fields()[name].known_in(version)
    if name not in _names():
        return False
    since, removed = map(_version, _names()[name])
    return (since is None or version >= since) and (removed is None or version < removed)


def dcgm_names() -> tuple[str, ...]:
    """Every field name of any release read, for suggestions."""
    return tuple(_names())


@cache
def xids() -> dict[int, Xid]:
    """The XID errors worth acting on, by number."""
    return {
        int(r["xid"]): Xid(int(r["xid"]), r["class"], r["meaning"], marks(r["unverified"]))  # type: ignore[arg-type]
        for r in rows("xids.tsv")
    }


@cache
def clock_events() -> tuple[ClockEvent, ...]:
    """What each bit of the mask means. Idle is one of them: a mask above 0 alone says nothing."""
    return tuple(ClockEvent(int(r["bit"]), r["name"], r["harmful"] == "yes") for r in rows("clock_events.tsv"))


@cache
def health_watches() -> dict[str, HealthWatch]:
    """The flags of `dcgmi health -s`. `dcgmi health -c` ends with status 0 whatever it finds: read its JSON."""
    return {r["flag"]: HealthWatch(r["flag"], r["watches"], int(r["settles_s"])) for r in rows("dcgm_health.tsv")}
