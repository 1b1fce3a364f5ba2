"""Quantities that cannot be mistaken for one another: bytes and bits, MiB and GB, minutes and seconds.

Each type is a frozen number with one meaning; different types neither compare nor add. `parse` reads what people
write and refuses what could be read in two ways; `str` gives a canonical text that parses to the same value. Every
type can be the type of a pydantic field, which then takes the same texts.
"""

from __future__ import annotations

from clustergen.units.age import Age
from clustergen.units.bare import Bare, Minutes, Seconds
from clustergen.units.base import UnitError
from clustergen.units.count import Count
from clustergen.units.duration import Duration
from clustergen.units.quantity import BitRate, ByteRate, Bytes, Kilo, Percent, Watts

__all__ = [
    "Age",
    "Bare",
    "BitRate",
    "ByteRate",
    "Bytes",
    "Count",
    "Duration",
    "Kilo",
    "Minutes",
    "Percent",
    "Seconds",
    "UnitError",
    "Watts",
]
