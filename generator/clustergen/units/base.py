"""Common parts of all units: their one error, and their use as the type of a pydantic field."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


class UnitError(ValueError):
    """A quantity without a unit, with the wrong one, or with one that has two meanings."""

    def __init__(self, message: str, hint: str | None = None, *, is_general: bool = False) -> None:
        """`is_general`: the hint shows the forms of all quantities of the kind, and says nothing about this one."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.is_general = is_general

    def context(self) -> dict[str, Any]:
        """For a pydantic error."""
        context = {"message": self.message, "hint": self.hint, "is_general": self.is_general}
        return {name: value for name, value in context.items() if value}


class PydanticField:
    """Makes a type with a `parse` and an `EXAMPLES` usable as the type of a pydantic field."""

    __slots__ = ()
    EXAMPLES: ClassVar[tuple[str, ...]] = ()
    JSON_TYPES: ClassVar[str | list[str]] = "string"
    UNIT: ClassVar[str] = ""
    """The unit of `number`, as names end: `bytes`. Empty: programs read the text."""

    @property
    def number(self) -> int | float | str:
        """The value for programs."""
        return str(self)

    @classmethod
    def parse(cls, text: str) -> Self:
        raise UnitError(f"{text!r} has no unit")

    @classmethod
    def from_input(cls, value: object) -> Self:
        """A value of a YAML file: a text, a bare number (most types refuse it), or a value of this type already."""
        if isinstance(value, cls):
            return value
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UnitError(f"this must be a quantity such as {cls.EXAMPLES[0]}", cls._of_one(value))
        return cls.parse(str(value))

    @classmethod
    def _of_one(cls, value: object) -> str | None:
        """The replacement for a list or a mapping: its only part; None for others."""
        parts = list(value.values()) if isinstance(value, dict) else value
        if isinstance(parts, list | tuple) and len(parts) == 1 and not isinstance(parts[0], dict):
            try:
                return f"write {cls.from_input(parts[0])}"
            except UnitError as err:
                return err.hint
        return None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return schema_of(cls.from_input)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": cls.JSON_TYPES, "examples": list(cls.EXAMPLES)}


def schema_of(read: Callable[[object], PydanticField]) -> CoreSchema:
    """The schema of a field whose values `read` makes, or refuses by UnitError."""
    from pydantic_core import PydanticCustomError, core_schema

    def validate(value: object) -> PydanticField:
        try:
            return read(value)
        except UnitError as err:
            raise PydanticCustomError("unit-wrong", "{message}", err.context()) from None

    as_text = core_schema.plain_serializer_function_ser_schema(str, when_used="json")
    return core_schema.no_info_plain_validator_function(validate, serialization=as_text)
