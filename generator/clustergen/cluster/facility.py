"""The machine room as resolved: power in W and VA, lengths in metres, times in minutes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clustergen.cluster.annotations import Hosts
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
class Plant:
    """Units of one kind that take heat from a loop: coolant distribution units or chillers. None: not stated."""

    SECTIONS = ("Cdus", "Chillers")
    model: str | None
    capacity_w: int | None  # heat that one unit removes
    count: int | None
    spare: int  # units that may fail
    pumps: int | None  # in each unit
    spare_pumps: int  # pumps of each unit that may fail
    pump_flow_l_per_minute: float | None  # of one pump


@record
class Sensor:
    """A measurement of Prometheus and its limits, after its values are multiplied by `scale`."""

    SECTIONS = ("Inlet", "Outlet", "Flow")
    series: str
    scale: float
    high: float | None
    low: float | None


@record
class Loop:
    """A loop of coolant through racks."""

    racks: Hosts
    coolant: str
    rise_k: float | None  # of the coolant between inlet and outlet
    share: float | None  # fraction of the nodes' heat; None: of each system as the catalogue has it
    cdus: Plant
    chillers: Plant | None
    sensors: Mapping[str, Sensor]  # by inlet, outlet or flow


@record
class Range:
    """Bounds of a price."""

    SECTIONS = ("PriceRange",)
    low: float
    high: float


@record
class Prices:
    """Prices of the site, by item of the bill of materials."""

    currency: str
    items: Mapping[str, float]  # of a range, its middle
    ranges: Mapping[str, Range]  # of the items whose price is not fixed
    contingency: float  # fraction of the sum
    tax: float  # fraction of the sum with its contingency
    budget: float | None
    gpu_hour: float | None  # of one GPU


@record
class Delivery:
    """Devices that were bought together."""

    types: tuple[str, ...]
    devices: Hosts
    bought: str  # ISO date
    warranty_years: float | None  # from the date of purchase; None: nothing is stated
    life_years: float | None  # until they are replaced; None: nothing is stated


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
    loops: Mapping[str, Loop]
    airflow_cfm: Mapping[str, float]  # by row
    power_factor: float
    pue: float | None  # of the whole facility to the devices
    ups: Ups | None
    spares: float  # fraction of each line of the bill
    all_reduce: tuple[Bytes, ...]  # message sizes of the estimates
    checkpoint: Bytes | None
    training: Mapping[str, Training]
    prices: Prices | None
    deliveries: Mapping[str, Delivery]
    is_stated: bool  # the manifest has the section


def middles(items: Mapping[str, Any]) -> dict[str, float]:
    """Prices of the manifest as numbers: of a range, its middle."""
    return {
        name: price if isinstance(price, (int, float)) else (price.low + price.high) / 2
        for name, price in items.items()
    }
