"""The unit of a bare number, where the program that reads the value has one for that key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from clustergen.records import record
from clustergen.units.base import UnitError, schema_of
from clustergen.units.duration import LIMITED, Duration, refuse_leading_zero, seconds_of

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


@record
class Bare:
    """Annotates a length of time with the unit that a bare number has: `Annotated[Duration, Bare("minute")]`.

    Around `int`, as in `Annotated[int, Field(ge=0), Bare("second")]`, the value is that number of units, and a text
    with a unit is converted. A length of time without this annotation refuses bare numbers.
    """

    unit: Literal["minute", "second", "millisecond"]

    @property
    def sentence(self) -> str:
        """For the schema, the reference and `clustergen explain`."""
        return f"A bare number is {self.unit}s."

    @property
    def symbol(self) -> str:
        return {"minute": "min", "second": "s", "millisecond": "ms"}[self.unit]

    def shown(self, count: int) -> str:
        """A number of these units in the largest unit that divides it: 30d, 1h, 90s."""
        seconds = count * 60 if self.unit == "minute" else count
        if self.unit == "millisecond":
            if count % 1000:
                return f"{count}ms"
            seconds = count // 1000
        units = (("d", 86_400), ("h", 3600), ("min", 60))
        return next(
            (f"{seconds // size}{name}" for name, size in units if seconds and not seconds % size), f"{seconds}s"
        )

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        unit = self.unit
        if source is Duration and unit != "millisecond":
            return schema_of(lambda value: Duration.from_input(value, unit))
        return core_schema.no_info_before_validator_function(self._number, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        if schema["type"] == "function-plain":
            return {"type": ["string", "integer"], "examples": list(Duration.EXAMPLES), "bare": self.sentence}
        return {**handler(schema), "type": ["integer", "string"], "examples": ["90s"], "bare": self.sentence}

    def _number(self, value: object) -> object:
        from pydantic_core import PydanticCustomError

        if not isinstance(value, str):
            return value
        try:
            refuse_leading_zero(value)
            text = value.strip()
            if text.isascii() and text.isdigit() and len(text) < 10:
                return int(text)
            seconds = seconds_of(text, None)  # no bare number
            if seconds is None:
                raise UnitError(f"{value} is not a valid duration", LIMITED, is_general=True)
        except UnitError as err:
            raise PydanticCustomError("unit-wrong", "{message}", err.context()) from None
        return {"minute": -(-seconds // 60), "second": seconds, "millisecond": seconds * 1000}[self.unit]


Minutes = Annotated[Duration, Bare("minute")]
Seconds = Annotated[Duration, Bare("second")]
