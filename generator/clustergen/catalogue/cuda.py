"""CUDA toolkits: drivers that run their programs, and GPUs that they compile for."""

from __future__ import annotations

from clustergen.catalogue.tables import NOTHING, keyed
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


cuda_drivers = keyed("cuda_drivers.tsv", CudaDriver, lambda row: row.cuda)
"""By major release of CUDA."""
cuda_gpus = keyed("cuda_gpus.tsv", CudaGpu, lambda row: row.capability)
"""By compute capability."""
