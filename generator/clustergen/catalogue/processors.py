"""PCIe lanes of processors by family."""

from __future__ import annotations

import re

from clustergen.catalogue.tables import NOTHING, listed
from clustergen.records import record

_MAKER = re.compile(r"^(?:AMD|Intel|\(R\)|Intel\(R\))\s+", re.IGNORECASE)


@record
class CpuLanes:
    """PCIe lanes of a family of processors."""

    id: str
    models: str
    """Regular expression for the start of the model, without its maker."""
    lanes_1: int
    lanes_2: int | None = None
    """Of both processors of a server with two; None: sold for one socket."""
    generation: int | None = None
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


_families = listed("cpu_lanes.tsv", CpuLanes)


def pcie_lanes(model: str, sockets: int) -> int | None:
    """PCIe lanes of a server with these processors; None for a model that no family matches."""
    name = _MAKER.sub("", model.replace("(R)", ""))
    for family in _families():
        if re.match(family.models, name):
            return family.lanes_1 if sockets == 1 else family.lanes_2 if sockets == 2 else None
    return None
