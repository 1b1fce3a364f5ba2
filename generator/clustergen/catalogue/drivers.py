"""Branches of NVIDIA's driver with the GPUs that they serve, and CUDA toolkits with the drivers that they need."""

from __future__ import annotations

from typing import Literal

from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.tables import NOTHING, keyed, listed
from clustergen.records import record

OPEN_SINCE = 515
"""The first branch with open kernel modules."""
_IN_PRODUCTION = ("production", "lts")


@record
class Branch:
    """A branch of NVIDIA's driver."""

    id: int
    kind: Literal["production", "lts", "feature", "ended"]
    end: str = ""
    """Of support, as `2028-06`; empty where nobody knows."""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class Support:
    """The branches and modules that serve a GPU. None: not known."""

    gpu: str
    """An id, or the compute capability of all without a row of their own."""
    first: int | None = None
    last: int | None = None
    modules: Literal["open", "proprietary", "both"] = "both"
    mig: int | None = None
    """The first branch that splits the GPU."""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    def serves(self, branch: int) -> bool:
        return (self.first or 0) <= branch <= (self.last or branch)


branches = listed("driver_branches.tsv", Branch)
"""All that the catalogue names, oldest first."""
_supports = keyed("gpu_drivers.tsv", Support, lambda row: row.gpu)


def support_of(gpu: Gpu) -> Support:
    """The branches and modules for a GPU; without limits where nobody knows."""
    rows = _supports()
    return rows.get(gpu.id) or rows.get(gpu.sm) or Support(gpu.id)


def newest_in_production(gpu: Gpu) -> int | None:
    """The newest production branch that serves a GPU; otherwise its last one."""
    return max(_maintained(support_of(gpu)), default=support_of(gpu).last)


def nearest(gpu: Gpu, branch: int, first: int = 0) -> int | None:
    """The branch in production next to another one, from `first` on, that serves a GPU; otherwise its last one."""
    support = support_of(gpu)
    fitting = [each for each in _maintained(support) if each >= first]
    return min(fitting, key=lambda each: abs(each - branch), default=support.last)


def _maintained(support: Support) -> list[int]:
    return [row.id for row in branches() if row.kind in _IN_PRODUCTION and support.serves(row.id)]


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
