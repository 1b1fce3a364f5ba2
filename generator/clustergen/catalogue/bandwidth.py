"""Bandwidth that real systems reached."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import NOTHING, table
from clustergen.records import record


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


@cache
def bus_bandwidths() -> tuple[BusBandwidth, ...]:
    """All results."""
    return tuple(table("busbw.tsv", BusBandwidth))
