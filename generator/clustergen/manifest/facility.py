"""The machine room: cable routes, cooling, UPS and prices."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import Name, Section, field, section, text
from clustergen.units import Percent, Watts

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

    apparent: Annotated[int, Field(ge=1, le=100_000_000)] | None = field(None, "Rating in VA.")
    power: Watts = field(..., "Rated power.")
    minutes: Annotated[float, Field(gt=0, le=1440)] | None = field(None, "Run time at rated power, in minutes.")


class Prices(Section):
    """Prices of this site; clustergen has none."""

    currency: Annotated[str, text(r"^[A-Z]{3}$", "write the ISO 4217 code, as EUR")] = field(..., "Currency.")
    items: dict[Name, Annotated[float, Field(ge=0, le=1e9)]] = field(
        {}, "Price of one piece, by catalogue id: dgx-h100, qm9700, mm-ndr-switch …"
    )
    budget: Annotated[float, Field(gt=0, le=1e12)] | None = field(None, "Limit of the total.")


class Facility(Section):
    """The machine room."""

    cabling: Cabling = section(Cabling, "Geometry from which cable lengths are derived.")
    cooling: Watts | None = field(None, "Heat that the room removes in all.")
    ups: Ups | None = field(None, "Uninterruptible power supply of the room.")
    prices: Prices | None = field(None, "Prices, for the cost in the bill of materials.")
