"""Precisions in which GPUs train language models."""

from __future__ import annotations

from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.tables import NOTHING, keyed
from clustergen.records import record


@record
class GpuPrecision:
    """A precision in which GPUs of a compute capability multiply matrices."""

    sm: str
    precision: str
    rate: float
    """Dense rate, as a multiple of the GPU's `fp16_tflops`."""
    reached: float
    """Share of that rate that training reaches on one GPU."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


gpu_precisions = keyed("gpu_precisions.tsv", GpuPrecision, lambda row: (row.sm, row.precision))
"""All rows by compute capability and precision."""


def precisions_of(gpu: Gpu) -> dict[str, GpuPrecision]:
    """The precisions that a GPU has, slowest first; none for a compute capability without rows."""
    return {name: row for (sm, name), row in gpu_precisions().items() if sm == gpu.sm}


def tflops(gpu: Gpu, precision: str) -> float | None:
    """Dense rate of one GPU in TFLOPS; None where the catalogue does not know it."""
    row = gpu_precisions().get((gpu.sm, precision))
    return row.rate * gpu.fp16_tflops if row and gpu.fp16_tflops else None
