"""Bandwidth that real systems reached, and that storage is planned with."""

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import NOTHING, marks, number, rows


class BusBandwidth(NamedTuple):
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


class StorageTarget(NamedTuple):
    """Storage bandwidth for some nodes together, in GB/s."""

    nodes: int
    direction: str
    good: int
    better: int
    best: int


@cache
def bus_bandwidths() -> tuple[BusBandwidth, ...]:
    """All results."""
    return tuple(
        BusBandwidth(
            collective=r["collective"],
            gpu=r["gpu"],
            nodes=int(r["nodes"]),
            gpus=int(r["gpus"]),
            size=r["size"],
            algorithm=r["algorithm"],
            busbw_gb_s=int(r["busbw_gb_s"]),
            high_gb_s=number(r["high_gb_s"]),
            unverified=marks(r["unverified"]),
            source=r["source"],
        )
        for r in rows("busbw.tsv")
    )


@cache
def storage_targets() -> tuple[StorageTarget, ...]:
    """The steps of the plan, smallest first."""
    return tuple(
        StorageTarget(int(r["nodes"]), r["direction"], int(r["good"]), int(r["better"]), int(r["best"]))
        for r in rows("storage_targets.tsv")
    )
