"""Bandwidth that real systems reached."""

from __future__ import annotations

from clustergen.catalogue.tables import NOTHING, listed
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


bus_bandwidths = listed("busbw.tsv", BusBandwidth)
"""All results."""
