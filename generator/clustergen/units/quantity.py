"""Amounts, rates, power and percentages: a number with a unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from clustergen.units.base import PydanticField, UnitError, schema_of

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

_NUMBER = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*([^\s0-9.,_].*)?", re.DOTALL)
_LARGEST = 2**63 - 1  # what every program that reads it can hold
_KILO = {"k": 1, "M": 2, "G": 3, "T": 4, "P": 5}


@dataclass(frozen=True, slots=True, order=True)
class _Quantity(PydanticField):
    value: int

    NAME: ClassVar[str] = ""
    UNITS: ClassVar[dict[str, int]] = {}
    """Spelling to size."""
    CANONICAL: ClassVar[tuple[str, ...]] = ()
    """The spellings that `str` prints, the base unit last; the shortest text wins, then the first unit."""
    USUAL: ClassVar[str] = ""

    @property
    def number(self) -> int:
        return self.value

    @classmethod
    def parse(cls, text: str, *, bare: str = "") -> Self:
        """`1.5TiB`, `2 TB`: a number and a unit; `bare` is the unit of a number without one, where a format fixes it.

        What is finer than `value` counts is rounded down. UnitError for all else.
        """
        number, unit = cls._split(text)
        unit = unit or bare
        if not unit:
            raise UnitError(f"{number} has no unit", f"write {cls._with_unit(number)}")
        if unit not in cls.UNITS:
            raise cls._wrong_unit(number, unit)
        value = int(Fraction(number) * cls.UNITS[unit])
        if value > _LARGEST:
            raise UnitError(f"{number}{unit} is out of range", f"write it like {cls.EXAMPLES[0]}")
        return cls(value)

    @classmethod
    def _with_unit(cls, number: str) -> str:
        """The probable unit of a number without one."""
        return f"{number}{cls.USUAL}"

    @classmethod
    def _split(cls, text: str) -> tuple[str, str]:
        match = _NUMBER.fullmatch(text.strip())
        if not match:
            plain = re.sub(r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))", ".", text)
            hint = f"write {plain}" if plain != text else f"write it like {cls.EXAMPLES[0]}"
            raise UnitError(f"{text[:40]!r} is not a number with a unit", hint)
        return match[1], (match[2] or "").rstrip()

    @classmethod
    def _wrong_unit(cls, number: str, unit: str) -> UnitError:
        for kind in (Bytes, BitRate, ByteRate, Watts):
            if kind is not cls and unit in kind.UNITS:
                hint = _converted(kind.parse(number + unit), cls) or f"write it like {cls.EXAMPLES[0]}"
                return UnitError(f"{number}{unit} is {kind.NAME}, not {cls.NAME}", hint)
        for spelling, size in cls.UNITS.items():
            if spelling.casefold() == unit.casefold():
                usual = next((unit for unit in cls.CANONICAL if cls.UNITS[unit] == size), spelling)
                return UnitError(f"'{unit}' is not a unit", f"write {number}{usual}")
        return UnitError(f"'{unit[:20]}' is not a unit for {cls.NAME}", f"use one of {', '.join(cls.CANONICAL)}")

    def __str__(self) -> str:
        texts = []
        for unit in self.CANONICAL:
            thousandths, rest = divmod(self.value * 1000, self.UNITS[unit])
            whole, part = divmod(thousandths, 1000)
            if whole and not rest:
                texts.append(f"{whole}.{part:03d}".rstrip("0").rstrip(".") + unit)
        return min([*texts, f"{self.value}{self.CANONICAL[-1]}"], key=len)

    def __add__(self, other: Self) -> Self:
        kind: type = type(other)
        return type(self)(self.value + other.value) if kind is type(self) else NotImplemented

    def __mul__(self, times: int) -> Self:
        return type(self)(self.value * times)

    __rmul__ = __mul__


def _converted(quantity: _Quantity, target: type[_Quantity]) -> str | None:
    """A hint that says bits as bytes, or bytes as bits."""
    if isinstance(quantity, ByteRate) and target is BitRate:
        return f"{quantity} are {quantity.to_bits()}"
    if isinstance(quantity, BitRate) and target is ByteRate:
        return f"{quantity} are {quantity.to_bytes()}"
    return None


class Bytes(_Quantity):
    """An amount of memory or storage; `value` counts bytes."""

    __slots__ = ()
    NAME = "a number of bytes"
    UNIT = "bytes"
    UNITS: ClassVar = {
        **{f"{letter.upper()}iB": 1024**power for letter, power in _KILO.items()},
        **{f"{letter}B": 1000**power for letter, power in _KILO.items()},
        "KB": 1000,
        "B": 1,
    }
    CANONICAL = ("PiB", "TiB", "GiB", "MiB", "KiB", "PB", "TB", "GB", "MB", "kB", "B")
    EXAMPLES = ("1.5TiB", "512GiB", "2TB")

    @classmethod
    def _with_unit(cls, number: str) -> str:
        """128 is a node's GiB, 4096 may be either, 515000 is Slurm's RealMemory, 3.84 are TB of a disk."""
        if "." in number:
            return f"{number}TiB or {number}TB"
        if float(number) <= 1024:
            return f"{number}GiB"
        return f"{number}GiB or {number}MiB" if float(number) <= 16384 else f"{number}MiB"

    @property
    def mib(self) -> int:
        """Whole MiB, rounded down: Slurm's unit of memory."""
        return self.value >> 20

    @property
    def gib(self) -> float:
        return self.value / 2**30

    @property
    def gb(self) -> float:
        return self.value / 10**9

    @classmethod
    def _wrong_unit(cls, number: str, unit: str) -> UnitError:
        if len(unit) == 1 and unit.upper() in "KMGTP":
            decimal, binary = f"{number}{unit.upper()}B", f"{number}{unit.upper()}iB"
            return UnitError(
                f"{number}{unit} is ambiguous: {decimal} or {binary}",
                f"write {binary} (1024s, as memory) or {decimal} (1000s, as disks)",
            )
        if re.fullmatch("[kKMGTP]i?(b|bit)", unit):
            return UnitError(
                f"{number}{unit} is a number of bits",
                f"write {number}{unit[0].upper()}iB or {number}{unit[0].upper()}B",
            )
        return super()._wrong_unit(number, unit)


class BitRate(_Quantity):
    """A link's speed; `value` counts bits per second. Never the same as the number of bytes."""

    __slots__ = ()
    NAME = "a rate in bits"
    UNIT = "bits_per_s"
    UNITS: ClassVar = {
        prefix + bit: 1000**power for bit in ("b/s", "bit/s", "bps") for prefix, power in ({"": 0} | _KILO).items()
    }
    CANONICAL = ("Pb/s", "Tb/s", "Gb/s", "Mb/s", "kb/s", "b/s")
    USUAL = "Gb/s"
    EXAMPLES = ("400Gb/s", "25Gb/s")

    @property
    def gbit(self) -> float:
        return self.value / 10**9

    def to_bytes(self) -> ByteRate:
        return ByteRate(self.value // 8)

    @classmethod
    def _wrong_unit(cls, number: str, unit: str) -> UnitError:
        if re.fullmatch("[kKMGT](b|bit)?", unit):
            return UnitError(f"{number}{unit} is not a rate", f"write {number}{unit[0]}b/s")
        return super()._wrong_unit(number, unit)


class ByteRate(_Quantity):
    """A speed of storage or memory; `value` counts bytes per second."""

    __slots__ = ()
    NAME = "a rate in bytes"
    UNIT = "bytes_per_s"
    UNITS: ClassVar = {
        prefix + byte: 1000**power for byte in ("B/s", "Bps") for prefix, power in ({"": 0} | _KILO).items()
    } | {f"{letter.upper()}iB/s": 1024**power for letter, power in _KILO.items()}
    CANONICAL = ("PB/s", "TB/s", "GB/s", "MB/s", "kB/s", "TiB/s", "GiB/s", "MiB/s", "KiB/s", "B/s")
    USUAL = "GB/s"
    EXAMPLES = ("50GB/s", "3.35TB/s")

    @property
    def gb(self) -> float:
        return self.value / 10**9

    def to_bits(self) -> BitRate:
        return BitRate(self.value * 8)


class Watts(_Quantity):
    """Electric power; `value` counts whole watts."""

    __slots__ = ()
    NAME = "a power"
    UNIT = "w"
    UNITS: ClassVar = {"W": 1, "kW": 1000, "MW": 1_000_000}
    CANONICAL = ("MW", "kW", "W")
    USUAL = "W"
    EXAMPLES = ("700W", "10.2kW")

    @classmethod
    def _with_unit(cls, number: str) -> str:
        """40 may be a rack's kW or a card's W; 200 and more are W."""
        return f"{number}W" if float(number) >= 200 else f"{number}kW or {number}W"

    @classmethod
    def _wrong_unit(cls, number: str, unit: str) -> UnitError:
        if unit in ("VA", "kVA", "MVA"):
            watts = f"{float(number) * 0.95:g}{unit.replace('VA', 'W')}"
            return UnitError(f"{number}{unit} is apparent power", f"write the power, as {watts} with a factor of 0.95")
        return super()._wrong_unit(number, unit)

    @property
    def kw(self) -> float:
        return self.value / 1000


class Kilo:
    """Annotates the power of a rack, a loop or a room: kW are proposed for a bare number that can be meant so.

    `megawatts`: so may MW for a small one, as of a CDU or a room.
    """

    _LIMIT = 10_000  # 12000 are rather the watts of a rack
    _SMALL = 10

    def __init__(self, *, megawatts: bool = False) -> None:
        self._megawatts = megawatts

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return schema_of(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return Watts.__get_pydantic_json_schema__(schema, handler)

    def _read(self, value: object) -> Watts:
        try:
            return Watts.from_input(value)
        except UnitError as err:
            hint = err.hint
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < self._LIMIT:
                is_small = self._megawatts and value < self._SMALL
                hint = f"write {value}MW or {value}kW" if is_small else f"write {value}kW"
            raise UnitError(err.message, hint) from None


@dataclass(frozen=True, slots=True, order=True)
class Percent(PydanticField):
    """A part of a whole; `value` 80 is 80 %."""

    value: float

    EXAMPLES = ("80%", "2.5%")

    @classmethod
    def parse(cls, text: str) -> Self:
        """`80%`; a bare number is refused, since 0.8 and 80 may both be meant."""
        match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)\s*(%?)", text.strip())
        if not match:
            raise UnitError(f"{text[:40]!r} is not a percentage", f"write it like {cls.EXAMPLES[0]}")
        if not match[2]:
            hint = f"write {float(match[1]) * 100:g}%" if float(match[1]) < 1 else f"write {match[1]}%"
            raise UnitError(f"{match[1]} has no %", hint)
        return cls(float(match[1]))

    @property
    def fraction(self) -> float:
        """80 % is 0.8."""
        return self.value / 100

    def __str__(self) -> str:
        return f"{self.value:.4f}".rstrip("0").rstrip(".") + "%"
