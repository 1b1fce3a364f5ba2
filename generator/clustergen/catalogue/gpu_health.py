"""GPU errors by generation: XID errors, what DCGM's health watches report, and what to do about each."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.tables import NOTHING, keyed, listed, rows, words
from clustergen.catalogue.versions import DcgmVersion
from clustergen.records import record

Generation = Literal["volta", "ampere", "ada", "hopper", "blackwell", "grace-blackwell"]
GENERATIONS: tuple[Generation, ...] = ("volta", "ampere", "ada", "hopper", "blackwell", "grace-blackwell")
_OF_ARCHITECTURE: dict[str, Generation] = {
    "volta": "volta",
    "turing": "volta",
    "ampere": "ampere",
    "ada": "ada",
    "hopper": "hopper",
    "blackwell": "blackwell",
    "blackwell-ultra": "blackwell",
}


@record
class Xid:
    """One XID error."""

    xid: int
    action: Literal["drain", "watch", "application", "ignore"]
    """application: the job's own fault; watch: reset when the node is free; drain: take the node out."""
    generations: frozenset[Generation]
    nvidia: str
    """NVIDIA's immediate action; empty where the catalog lists none."""
    driver: int | None
    """First driver branch that reports Xid 154, its recovery action, beside this one."""
    meaning: str
    unverified: frozenset[str] = NOTHING


@record
class Incident:
    """One message of `dcgmi health -c`."""

    watch: str
    code: str
    text: str
    """Extended regular expression; `{xids}` stands for numbers of Xids."""
    action: Literal["drain", "driver", "warn", "ignore"]
    """driver: the driver's recovery action decides; drains where the driver gives none."""
    alert: Literal["critical", "warning", ""]
    """Empty where another alert watches the cause."""
    only: Literal["nvlink", "nvl72", ""]
    since: DcgmVersion | None
    clears: str
    unverified: frozenset[str] = NOTHING


@record
class Reset:
    """GPUs that have to be reset in one command."""

    joined: Literal["none", "links", "nvswitch", "rack"]
    """How NVLink joins the GPUs of a node, or of a rack."""
    generations: frozenset[Generation]
    scope: Literal["alone", "linked", "fabric-manager", "never"]
    """linked: all that NVLink joins; fabric-manager: alone while it runs, else linked; never: not by the epilog."""
    unverified: frozenset[str] = NOTHING


def generation(gpu: Gpu) -> Generation | None:
    """The generation of a GPU as the tables of errors and counters name it; None for an unknown architecture."""
    if "nvl72" in gpu.nvlink_by:
        return "grace-blackwell"
    return _OF_ARCHITECTURE.get(gpu.architecture.lower())


def generations(cell: str) -> frozenset[Generation]:
    """A cell that names generations; `all` names every one. ValueError for any other word."""
    names = words(cell)
    if names == ("all",):
        return frozenset(GENERATIONS)
    members = frozenset(name for name in GENERATIONS if name in names)
    if len(members) != len(names):
        raise ValueError(f"{cell!r} names no generation of GPUs")
    return members


xids = keyed("xids.tsv", Xid, lambda row: row.xid, generations=generations)
"""XID errors by number."""


def xids_of(where: Generation | None, action: str) -> tuple[Xid, ...]:
    """The XID errors of a generation that ask for an action; of an unknown one, those that every generation has."""
    return tuple(
        xid
        for xid in xids().values()
        if xid.action == action and (where in xid.generations if where else len(xid.generations) == len(GENERATIONS))
    )


@cache
def max_operating_c() -> dict[str, int]:
    """Highest operating temperature by the id of the GPU, for those whose driver reports limits and no margin."""
    return {r["gpu"]: int(r["max_operating_c"]) for r in rows("gpu_temperatures.tsv")}


dcgm_incidents = listed("dcgm_incidents.tsv", Incident, since=DcgmVersion)
"""Incidents that DCGM's health watches report, in the order of the table."""
_resets = listed("gpu_resets.tsv", Reset, generations=generations)


def reset_scope(gpu: Gpu, nvlink: str) -> str:
    """Scope of a reset of GPUs with NVLinks `nvlink`: nvswitch, mesh, bridge or none. Without a row: never."""
    joined = nvlink if nvlink in ("none", "nvswitch") else "links"
    if "nvl72" in gpu.nvlink_by:
        joined = "rack"
    name = generation(gpu)
    return next((row.scope for row in _resets() if row.joined == joined and name in row.generations), "never")
