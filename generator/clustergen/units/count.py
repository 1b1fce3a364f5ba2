"""Large counts as people write them: 70B parameters, 1.4T tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from clustergen.units.base import PydanticField, UnitError

_NUMBER = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,9})?)(?:[eE]\+?([0-9]{1,2}))?\s*([A-Za-z]*)")
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_MOST = 10**18


@dataclass(frozen=True, slots=True, order=True)
class Count(PydanticField):
    """A number of parameters or tokens: a bare number, or one with k, M, B (10⁹) or T (10¹²)."""

    value: int

    EXAMPLES = ("70B", "1.4T")
    JSON_TYPES: ClassVar[str | list[str]] = ["string", "number"]

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _NUMBER.fullmatch(text.strip())
        if not match:
            raise UnitError(f"{text[:40]!r} is not a count", f"write it like {cls.EXAMPLES[0]}")
        if match[3] not in _UNITS:
            usual = next((unit for unit in _UNITS if unit and unit.casefold() == match[3].casefold()), "")
            usual = "B" if match[3] in ("G", "bn") else usual
            hint = f"write {match[1]}{usual}" if usual else f"use one of {', '.join(filter(None, _UNITS))}"
            raise UnitError(f"'{match[3][:20]}' is not a unit for a count", hint)
        value = Fraction(match[1]) * 10 ** int(match[2] or 0) * _UNITS[match[3]]
        if not 1 <= value <= _MOST:
            raise UnitError(f"{text[:40]} is out of range", f"write it like {cls.EXAMPLES[0]}")
        return cls(int(value))

    def __str__(self) -> str:
        texts = [
            f"{self.value / size:.4f}".rstrip("0").rstrip(".") + unit
            for unit, size in _UNITS.items()
            if unit and self.value >= size and self.value * 10**4 % size == 0
        ]
        return min([*texts, str(self.value)], key=len)
