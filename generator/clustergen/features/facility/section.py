"""The machine room: cable routes, cooling, UPS and prices."""

from typing import Annotated, ClassVar

from pydantic import Field

from clustergen.manifest.base import NOT_EMPTY, Name, Section, field, section, text
from clustergen.units import Bytes, Percent, Watts

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
    power: Watts = field(..., "Rated power.")
    minutes: Annotated[float, Field(gt=0, le=1440)] | None = field(None, "Run time at rated power, in minutes.")
    required_minutes: Annotated[float, Field(gt=0, le=1440)] | None = field(
        None, "Run time that the load of the room needs, in minutes."
    )


class Prices(Section):
    """Prices of this site; clustergen has none."""

    currency: Annotated[str, text(r"^[A-Z]{3}$", "write the ISO 4217 code, as EUR")] = field(..., "Currency.")
    items: dict[Name, Annotated[float, Field(ge=0, le=1e9)]] = field(
        {}, "Price of one piece, by catalogue id: dgx-h100, qm9700, acc-ndr-twin, mma4z00-ns …"
    )
    budget: Annotated[float, Field(gt=0, le=1e12)] | None = field(None, "Limit of the total.")


class Estimates(Section):
    """Sizes for which the report estimates times."""

    all_reduce: tuple[Bytes, ...] = field(
        (Bytes(2**30), Bytes(2**34)), "Messages of an all-reduce over all GPUs of a type; default 1GiB and 16GiB."
    )
    checkpoint: Bytes | None = field(None, "A checkpoint that all nodes write together.")


class Facility(Section):
    """The machine room."""

    cabling: Cabling = section(Cabling, "Geometry from which cable lengths are derived.")
    cooling: Watts | None = field(None, "Heat that the cooling of the room removes.")
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


PLACES = {"facility": (Facility, section(Facility, "The machine room."))}
