"""CUDA toolkits: drivers that run their programs, and GPUs that they compile for."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import NOTHING, table
from clustergen.records import record


@record
class CudaDriver:
    """The first branch of the driver for a major release."""

    cuda: int
    driver: int
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class CudaGpu:
    """Toolkits for a compute capability. `last`: the last major release; None while there is none."""

    capability: str
    first: str
    last: int | None = None
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    def serves(self, release: str) -> bool:
        """True if a toolkit, as `12.8`, compiles for it."""
        numbers = tuple(map(int, release.split(".")))
        return tuple(map(int, self.first.split("."))) <= numbers and (self.last is None or numbers[0] <= self.last)


@cache
def cuda_drivers() -> dict[int, CudaDriver]:
    """By major release of CUDA."""
    return {row.cuda: row for row in table("cuda_drivers.tsv", CudaDriver)}


@cache
def cuda_gpus() -> dict[str, CudaGpu]:
    """By compute capability."""
    return {row.capability: row for row in table("cuda_gpus.tsv", CudaGpu)}
