"""The machine room as resolved: power in W and VA, lengths in metres, times in minutes."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.records import record
from clustergen.units import Bytes


@record
class Cabling:
    """Geometry from which cable lengths are derived."""

    rack_pitch_m: float
    row_pitch_m: float
    overhead_m: float
    slack_m: float
    margin: float  # fraction of each length


@record
class Ups:
    """Uninterruptible power supply of the room."""

    power_w: int
    apparent_va: int | None
    minutes: float | None  # at rated power
    required_minutes: float | None


@record
class Prices:
    """Prices of the site, by item of the bill of materials."""

    currency: str
    items: Mapping[str, float]
    budget: float | None
    gpu_hour: float | None  # of one GPU


@record
class Training:
    """A training run whose time and cost are estimated. None: derived, or nothing is stated."""

    parameters: int
    token_count: int
    precision: str
    type: str | None  # node type
    gpus: tuple[int, ...]  # sizes that are compared; empty: all GPUs of the type
    sequence: int  # tokens
    batch: int | None  # tokens of a step
    layers: int | None
    hidden: int | None
    parallelism: str | None
    tensor: int | None
    pipeline: int | None
    recompute: bool | None
    tflops: float | None  # of a GPU
    reached: float | None  # fraction of the GPU's rate
    checkpoint_every_s: int
    effective_time: float  # fraction of the wall time


@record
class Facility:
    """The machine room."""

    SECTIONS = ("Estimates", "Facility")
    cabling: Cabling
    cooling_w: int | None
    power_factor: float
    pue: float | None  # of the whole facility to the devices
    ups: Ups | None
    spares: float  # fraction of each line of the bill
    all_reduce: tuple[Bytes, ...]  # message sizes of the estimates
    checkpoint: Bytes | None
    training: Mapping[str, Training]
    prices: Prices | None
    is_stated: bool  # the manifest has the section
