"""Bandwidth that real systems reached, and that storage is planned with."""

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
    high_gb_s: int | None = None
    unverified: frozenset[str] = NOTHING
    source: str = ""


@record
class StorageTarget:
    """Storage bandwidth for some nodes together, in GB/s."""

    nodes: int
    direction: str
    good: int
    better: int
    best: int


@cache
def bus_bandwidths() -> tuple[BusBandwidth, ...]:
    """All results."""
    return tuple(table("busbw.tsv", BusBandwidth))


@cache
def storage_targets() -> tuple[StorageTarget, ...]:
    """The steps of the plan, smallest first."""
    return tuple(table("storage_targets.tsv", StorageTarget))
