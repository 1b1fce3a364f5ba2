"""Gates of an acceptance run, and what share of the possible a healthy machine reaches."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.tables import NOTHING, table
from clustergen.records import record

Stage = Literal["presence", "node", "pair", "whole"]


@record
class GateKind:
    """One kind of gate. `nodes`: how many one job uses; 0 stands for all nodes of a type."""

    gate: str
    stage: Stage
    nodes: int
    seconds: int
    drains: bool
    title: str
    source: str = ""


@record
class Share:
    """The part of `possible` that is required, with a measurement that somebody published, where there is one."""

    floor: str
    share: float
    published: float | None = None
    possible: float | None = None
    unit: str = ""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: str = ""


@cache
def gate_kinds() -> dict[str, GateKind]:
    """By name, in the order in which a run has them."""
    return {row.gate: row for row in table("acceptance_gates.tsv", GateKind)}


@cache
def shares() -> dict[str, Share]:
    return {row.floor: row for row in table("acceptance_floors.tsv", Share)}
