"""Gates of an acceptance run, what share of the possible a healthy machine reaches, and bandwidths reached."""

from __future__ import annotations

from typing import Literal

from clustergen.catalogue.tables import NOTHING, keyed, listed
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


gate_kinds = keyed("acceptance_gates.tsv", GateKind, lambda row: row.gate)
"""By name, in the order in which a run has them."""
shares = keyed("acceptance_floors.tsv", Share, lambda row: row.floor)


@record
class BusBandwidth:
    """One result of nccl-tests, in GB/s of bus bandwidth."""

    collective: str
    gpu: str
    """Id in `hardware.gpus()`."""
    nodes: int
    gpus: int
    size: str
    algorithm: str
    busbw_gb_s: int
    unverified: frozenset[str] = NOTHING
    source: str = ""


bus_bandwidths = listed("busbw.tsv", BusBandwidth)
"""All results."""
