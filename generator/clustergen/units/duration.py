"""Lengths of time, as people and as Slurm write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, Self

from clustergen.units.base import PydanticField, UnitError

_INFINITE = 2**32 - 1  # Slurm's INFINITE
_LONGEST = 2**31 - 1  # seconds; Slurm keeps them in an int
_SLURM = re.compile(r"(?:([0-9]{1,9})-(?=[0-9]))?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?")
_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([a-z]+)\s*")
_SECONDS = {"year": 31_536_000, "week": 604_800, "day": 86_400, "hour": 3600, "minute": 60, "second": 1}
_NAMES = {
    "y": "year",
    "w": "week",
    "d": "day",
    "h": "hour",
    "hr": "hour",
    "m": "minute",
    "min": "minute",
    "mins": "minute",
    "s": "second",
    "sec": "second",
    "secs": "second",
} | {name + s: name for name in _SECONDS for s in ("", "s")}
BareUnit = Literal["minute", "second"]
LIMITED = "write 30min, 24h, 7d, 2h30m or Slurm's 7-12:00:00"
"""How a length of time is written that has an end."""
_WAYS = "write 30min, 24h, 7d, 2h30m, Slurm's 7-12:00:00, or unlimited"


@dataclass(frozen=True, slots=True, order=True)
class Duration(PydanticField):
    """A length of time, or no limit, which is longer than all others. `value`: seconds, or Slurm's INFINITE."""

    value: int
    minutes_and_seconds: str = field(default="", compare=False, repr=False)
    """The text, where it is two numbers with a colon: Slurm's minutes:seconds, often meant as hours:minutes."""
    is_bare: bool = field(default=False, compare=False, repr=False)
    """True: the text was a number without a unit."""

    EXAMPLES = ("24h", "30min", "7-12:00:00", "unlimited")
    UNIT = "s"

    @property
    def number(self) -> int | Literal["unlimited"]:
        return "unlimited" if self.unlimited else self.value

    @classmethod
    def parse(cls, text: str, *, bare: BareUnit | None = "minute") -> Self:
        """Slurm's `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`; `7d`, `2h30m`,
        `1.5 hours`; `unlimited`, `infinite`, `-1`; and a number of the unit `bare`. UnitError for all else.

        As in Slurm, no part has a bound: 00:00:75 is 75 seconds.
        """
        text = text.strip()
        seconds = seconds_of(text, bare)
        if seconds is None:
            return cls(_INFINITE)
        match, is_bare = _SLURM.fullmatch(text), _is_bare(text)
        if seconds > _LONGEST:
            raise UnitError(
                f"{text} exceeds the longest duration in Slurm",
                f"write at most {_LONGEST // 86_400} days, or unlimited",
            )
        return cls(seconds, text if match and text.count(":") == 1 and "-" not in text else "", is_bare)

    @classmethod
    def from_input(cls, value: object, bare: BareUnit | None = None) -> Self:
        """Read a quantity as all quantities are; a bare number is refused where the field does not say what it
        counts.
        """
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            refuse_leading_zero(str(value))
            return cls.parse(str(value), bare=bare)
        return super(Duration, cls).from_input(value)  # the decorator replaces the class

    @property
    def unlimited(self) -> bool:
        return self.value == _INFINITE

    @property
    def seconds(self) -> int | None:
        """None without a limit."""
        return None if self.unlimited else self.value

    @property
    def minutes(self) -> int | None:
        """Whole minutes, rounded up as Slurm does; None without a limit."""
        return None if self.unlimited else -(-self.value // 60)

    def slurm(self) -> str:
        """The duration as `scontrol` prints it: `7-12:00:00`, `01:00:00`, `UNLIMITED`."""
        if self.unlimited:
            return "UNLIMITED"
        minutes, seconds = divmod(self.value, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        return (f"{days}-" if days else "") + f"{hours:02d}:{minutes:02d}:{seconds:02d}"

    def __str__(self) -> str:
        return self.slurm()


def slurm_minutes(minutes: int | None) -> str:
    """A time limit as `scontrol` prints it; None is no limit."""
    return Duration(_INFINITE if minutes is None else minutes * 60).slurm()


def refuse_leading_zero(text: str) -> None:
    """UnitError for a bare number such as 010, which is 8 to YAML 1.1 and 10 to YAML 1.2 and to Slurm."""
    if len(text) > 1 and text[0] == "0" and text.isascii() and text.isdigit():
        number = text.lstrip("0") or "0"
        raise UnitError(f"{text} has a leading zero, which makes it octal to some readers of YAML", f"write {number}")


def seconds_of(text: str, bare: BareUnit | None) -> int | None:
    """Seconds of a text without a bound; None for unlimited. UnitError for what is no length of time."""
    if text.casefold() in ("unlimited", "infinite", "-1"):
        return None
    if _is_bare(text):
        return _bare_seconds(text, bare)
    match = _SLURM.fullmatch(text)
    return _slurm_seconds(match) if match else _human_seconds(text)


def _is_bare(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _bare_seconds(text: str, unit: BareUnit | None) -> int:
    if unit is None:
        raise UnitError(f"{text} has no unit", f"write {text}d, {text}h, {text}min or {text}s")
    return int(text) * _SECONDS[unit]


def _slurm_seconds(match: re.Match[str]) -> int:
    days, *fields = match.groups()
    numbers = [int(field) for field in fields if field is not None]
    if days is not None:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, minutes, seconds = 0, *[*numbers, 0][:2]
    return int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + seconds


def _human_seconds(text: str) -> int:
    total = Fraction(0)
    smallest = _SECONDS["week"] + 1
    end = 0
    for part in _PART.finditer(text):
        unit = _SECONDS.get(_NAMES.get(part[2], ""), smallest)
        if part.start() != end or unit >= smallest:
            break
        total += Fraction(part[1]) * unit
        smallest, end = unit, part.end()
    if end != len(text) or not text:
        raise UnitError(f"{text[:40]!r} is not a duration", _WAYS, is_general=True)
    if total.denominator != 1:
        raise UnitError(f"{text} is not a whole number of seconds", _WAYS, is_general=True)
    return int(total)
