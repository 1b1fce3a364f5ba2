"""Training of language models: precisions of GPUs, figures that an estimate starts from, and published runs."""

from __future__ import annotations

from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.tables import NOTHING, keyed, listed
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


@record
class TrainingFigure:
    """One figure with its unit."""

    key: str
    value: float
    unit: str
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class PublishedRun:
    """A training run whose time was published. Zero: not stated."""

    run: str
    parameters: float
    layers: int
    hidden: int
    sequence: int
    batch: float
    """Tokens of a step."""
    tokens: float
    precision: str
    gpu: str
    """Id in `hardware.gpus()`."""
    gpus: int
    node_gpus: int
    node_gbit: int
    """Fabric ports of a node together, in Gb/s."""
    tensor: int
    pipeline: int
    recompute: int
    days: float
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


training_figures = keyed("training.tsv", TrainingFigure, lambda row: row.key)
"""All figures by key."""


def training_value(key: str) -> float:
    """The figure of that key, in the unit of its row in training.tsv; KeyError for an unknown key."""
    return training_figures()[key].value


published_runs = listed("training_runs.tsv", PublishedRun)
"""All runs of the table, in its order."""
