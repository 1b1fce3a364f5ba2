"""The machine room: cable routes, cooling, UPS and prices."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from clustergen.manifest.base import NOT_EMPTY, POSITIVE, HostList, Name, PlaceName, Section, field, section, text
from clustergen.manifest.rewrites import as_date
from clustergen.units import Bare, Bytes, Count, Kilo, Percent, Watts

Metres = Annotated[float, Field(ge=0, le=1000)]


class Cabling(Section):
    """Geometry from which cable lengths are derived."""

    rack_pitch: Metres = field(0.6, "Distance of two racks side by side, in metres.")
    row_pitch: Metres = field(2.4, "Distance of two rows, in metres.")
    overhead: Metres = field(1.0, "Way up to the tray and down again, in metres, for a cable that leaves its rack.")
    slack: Metres = field(0.6, "Length at both ends together for routing inside the racks, in metres.")
    margin: Percent = field(Percent(10), "Added to every derived length.")


class Ups(Section):
    """Uninterruptible power supply of the room."""

    MEANT_BY_SCALAR: ClassVar = "power"
    apparent: Annotated[int, Field(ge=1, le=100_000_000)] | None = field(None, "Rating in VA.")
    power: Annotated[Watts, Kilo(megawatts=True)] = field(..., "Rated power.")
    minutes: Annotated[float, Field(gt=0, le=1440)] | None = field(None, "Run time at rated power, in minutes.")
    required_minutes: Annotated[float, Field(gt=0, le=1440)] | None = field(
        None, "Run time that the load of the room needs, in minutes."
    )


class Plant(Section):
    """Units that take heat from a loop."""

    capacity: Annotated[Watts, Kilo(megawatts=True), POSITIVE] | None = field(None, "Heat that one unit removes.")
    count: Annotated[int, Field(ge=1, le=1000)] | None = field(
        None, "Units with the spare ones; default: as many as the heat needs."
    )
    spare: Annotated[int, Field(ge=0, le=100)] = field(1, "Units that may fail.")


class Cdus(Plant):
    """Coolant distribution units."""

    model: Name | None = field(None, "Model in the catalogue; default of capacity.")
    pumps: Annotated[int, Field(ge=1, le=16)] | None = field(None, "Pumps in each unit.")
    spare_pumps: Annotated[int, Field(ge=0, le=15)] = field(1, "Pumps of each unit that may fail.")
    pump_flow: Annotated[float, Field(gt=0, le=100_000)] | None = field(
        None, "Coolant that one pump moves, in litres a minute."
    )


class Chillers(Plant):
    """Chillers, dry coolers or connections to chilled water of the building."""


_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)"[^"\\{}\n]*"'
Series = Annotated[
    str,
    text(
        rf"^[a-zA-Z_:][a-zA-Z0-9_:]*(\{{{_LABEL}(, ?{_LABEL})*\}})?$",
        'write a metric with its labels, as ipmi_temperature_celsius{name="Coolant Inlet"}',
        200,
    ),
]
Limit = Annotated[float, Field(ge=0, le=100_000)]


class Sensor(Section):
    """A measurement of the coolant."""

    series: Series = field(
        ..., "Metric and labels as Prometheus has them; of the IPMI exporter, the nodes of the loop's racks."
    )
    scale: Annotated[float, Field(gt=0, le=1000)] = field(
        1.0, "Factor from the device's numbers to °C or litres a minute, as 0.1 for tenths."
    )


class Inlet(Sensor):
    """Temperature of the coolant that reaches the racks."""

    high: Limit | None = field(None, "°C above which an alert fires.")
    low: Limit | None = field(None, "°C below which an alert fires, as the dew point of the room.")


class Outlet(Sensor):
    """Temperature of the coolant that leaves the racks."""

    high: Limit | None = field(None, "°C above which an alert fires.")


class Flow(Sensor):
    """Flow of the coolant."""

    low: Limit | None = field(None, "Litres a minute below which an alert fires.")


class Sensors(Section):
    """Sensors of a loop, for alerts."""

    inlet: Annotated[Inlet | None, NOT_EMPTY] = field(None, "Temperature of the coolant that reaches the racks.")
    outlet: Annotated[Outlet | None, NOT_EMPTY] = field(None, "Temperature of the coolant that leaves the racks.")
    flow: Annotated[Flow | None, NOT_EMPTY] = field(None, "Flow of the coolant.")


class Loop(Section):
    """A loop of coolant through racks."""

    racks: HostList = field(..., "Racks.")
    coolant: Literal["water", "pg25"] = field("water", "Coolant: water, or pg25 with 25 % propylene glycol.")
    rise: Annotated[float, Field(gt=0, le=80)] | None = field(
        None, "Temperature difference between outlet and inlet in K, for the flow."
    )
    share: Percent | None = field(
        None, "Share of the nodes' heat that leaves by the loop; default: of each system as the catalogue has it."
    )
    cdus: Cdus = section(Cdus, "Coolant distribution units.")
    chillers: Annotated[Chillers | None, NOT_EMPTY] = field(
        None, "Chillers, dry coolers or connections to chilled water of the building."
    )
    sensors: Sensors = section(Sensors, "Sensors of the loop, for alerts.")


Airflow = Annotated[float, Field(gt=0, le=10_000_000)]


Price = Annotated[float, Field(ge=0, le=1e9)]


class PriceRange(Section):
    """A price that is not fixed yet."""

    low: Price = field(..., "Lowest price of one piece.")
    high: Price = field(..., "Highest price of one piece.")


class Prices(Section):
    """Prices of this site; clustergen has none."""

    currency: Annotated[str, text(r"^[A-Z]{3}$", "write the ISO 4217 code, as EUR")] = field(
        ..., "Currency.", sample="EUR"
    )
    items: dict[Name, Price | PriceRange] = field(
        {},
        "Price of one piece without tax, or {low: 25000, high: 30000}, by catalogue id: dgx-h100, qm9700, connectx-7,"
        " acc-ndr-twin, mma4z00-ns …",
    )
    contingency: Percent = field(Percent(0), "Added to the sum of all lines, for prices that rise and parts forgotten.")
    tax: Percent = field(Percent(0), "Added to the sum and its contingency.")
    budget: Annotated[float, Field(gt=0, le=1e12)] | None = field(None, "Limit of the total, with contingency and tax.")
    gpu_hour: Annotated[float, Field(gt=0, le=1e6)] | None = field(
        None, "Price of one GPU for an hour, for estimates of training runs and for usage reports."
    )


Day = Annotated[
    str,
    text(
        r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", "write the date as 2027-03-31", rewrite=as_date
    ),
]
Years = Annotated[float, Field(gt=0, le=50)]


class Delivery(Section):
    """Devices that were bought together, for the refresh plan."""

    types: tuple[Name, ...] = field((), "Node types, all of whose nodes belong to it.")
    devices: HostList | None = field(None, "Nodes and switches; they come before types of other deliveries.")
    bought: Day = field(..., "Date of purchase.", sample="2026-03-01")
    warranty: Years | None = field(None, "Years of warranty or of a maintenance contract.")
    life: Years | None = field(None, "Years after which the devices are replaced; default: those of the warranty.")


Divisor = Annotated[int, Field(ge=1, le=10_000)]
Parallelism = Literal["data", "sharded", "tensor", "pipeline"]


class Training(Section):
    """A training run of a dense transformer, for `clustergen facility estimate`."""

    parameters: Count = field(..., "Parameters of the model, as 70B.")
    token_count: Count = field(..., "Tokens that the model is trained on, as 1.4T.")
    precision: Literal["fp32", "tf32", "fp16", "bf16", "fp8", "fp4"] = field(
        "bf16", "Precision of the matrix products; weights and the optimizer keep more bits."
    )
    type: Name | None = field(None, "Node type that trains; default: the type that has most GPUs.")
    gpus: tuple[Annotated[int, Field(ge=1, le=1_000_000)], ...] = field(
        (), "Numbers of GPUs that are compared; default: all GPUs of the type."
    )
    sequence: Annotated[int, Field(ge=1, le=100_000_000)] = field(4096, "Tokens of a sequence.")
    batch: Count | None = field(
        None, "Tokens of a step; default: 4 million, and at least a sequence for each GPU or group of them."
    )
    layers: Divisor | None = field(None, "Layers of the model; default: derived from the parameters.")
    hidden: Annotated[int, Field(ge=1, le=10_000_000)] | None = field(
        None, "Hidden size of the model; default: derived from the parameters."
    )
    parallelism: Parallelism | None = field(
        None, "How the model is divided; default: the fastest way that fits into the memory of the GPUs."
    )
    tensor: Divisor | None = field(None, "GPUs that share each layer; default: the fastest number that fits.")
    pipeline: Divisor | None = field(None, "Stages of a pipeline; default: the fastest number that fits.")
    recompute: bool | None = field(
        None, "Compute activations twice in place of keeping them; default: only where memory requires it."
    )
    tflops: Annotated[float, Field(gt=0, le=1e6)] | None = field(
        None, "Dense rate of one GPU at this precision, in TFLOPS; default: that of the catalogue."
    )
    reached: Percent | None = field(
        None, "Share of that rate that training reaches on one GPU, as measured; default: that of the catalogue."
    )
    checkpoint_every: Annotated[int, Field(ge=1, le=31_536_000), Bare("second")] = field(
        3600, "Time between two checkpoints."
    )
    effective_time: Percent = field(
        Percent(90), "Share of the wall time that trains; the rest goes to failures, restarts and evaluation."
    )


class Estimates(Section):
    """Sizes for which the report estimates times."""

    all_reduce: tuple[Bytes, ...] = field(
        (Bytes(2**30), Bytes(2**34)), "Messages of an all-reduce over all GPUs of a type; default 1GiB and 16GiB."
    )
    checkpoint: Bytes | None = field(None, "A checkpoint that all nodes write together.")
    training: dict[Name, Training] = field({}, "Training runs by a name of your own.")


class Facility(Section):
    """The machine room."""

    cabling: Cabling = section(Cabling, "Geometry from which cable lengths are derived.")
    cooling: Annotated[Watts, Kilo(megawatts=True)] | None = field(
        None, "Heat that the cooling of the room removes, besides that of loops."
    )
    loops: dict[Name, Loop] = field({}, "Loops of coolant by a name of your own.")
    airflow: dict[PlaceName, Airflow] = field({}, "Cooling air in CFM that each row of racks gets.")
    power_factor: Annotated[float, Field(ge=0.5, le=1)] = field(
        0.95, "Watts per volt-ampere of the load, for feeds and UPS; NVIDIA plans with 0.95."
    )
    pue: Annotated[float, Field(ge=1, le=4)] | None = field(
        None, "Power usage effectiveness: power of the whole facility to that of the devices; for the report."
    )
    ups: Annotated[Ups | None, NOT_EMPTY] = field(None, "Uninterruptible power supply of the room.")
    spares: Percent = field(Percent(0), "Spare modules, fibres and cables in the bill of materials, per line.")
    estimates: Estimates = section(Estimates, "Sizes for which the report estimates times.")
    prices: Annotated[Prices | None, NOT_EMPTY] = field(None, "Prices, for the cost in the bill of materials.")
    deliveries: dict[Name, Delivery] = field({}, "Purchases by a name of your own, for the refresh plan.")


PLACES = {"facility": (Facility, section(Facility, "The machine room."))}
