"""How long slurmdbd keeps records."""

from __future__ import annotations

import re
from typing import Literal, Self

from clustergen.records import record
from clustergen.units.base import PydanticField, UnitError

_AGE = re.compile(r"([0-9]{1,5})\s*([A-Za-z]*)")
_UNITS: dict[str, tuple[int, Literal["hour", "day", "month"]]] = {
    "hour": (1, "hour"),
    "h": (1, "hour"),
    "day": (1, "day"),
    "d": (1, "day"),
    "week": (7, "day"),
    "w": (7, "day"),
    "month": (1, "month"),
    "year": (12, "month"),
    "y": (12, "month"),
}


@record
class Age(PydanticField):
    """An age in hours, days or months, as 24months. Weeks and years are converted."""

    count: int
    unit: Literal["hour", "day", "month"]

    EXAMPLES = ("24months", "90days", "2years")

    @classmethod
    def parse(cls, text: str) -> Self:
        """`24months`, `90 days`, `12h`, `2years`. UnitError for all else, bare numbers included."""
        match = _AGE.fullmatch(text.strip())
        if not match:
            raise UnitError(f"{text[:40]!r} is not a retention time", "write 24months, 90days or 12hours")
        number, word = match.groups()
        if not word:
            raise UnitError(f"{number} has no unit", f"write {number}months, {number}days or {number}hours")
        times, unit = _UNITS.get(word.lower() if len(word) == 1 else word.lower().removesuffix("s"), (0, "day"))
        if not times:
            raise UnitError(
                f"'{word[:20]}' is not a unit of a retention time", "use hours, days, weeks, months or years"
            )
        if not int(number):
            raise UnitError(f"{text.strip()} would keep no record", "remove it to keep all records")
        return cls(int(number) * times, unit)

    def __str__(self) -> str:
        return f"{self.count}{self.unit}{'' if self.count == 1 else 's'}"
