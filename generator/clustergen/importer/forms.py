"""Texts of Slurm's files as values of the manifest: the grammar is here, bounds and patterns are the fields' own."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from clustergen.catalogue.system_paths import is_listed
from clustergen.importer.draft import Value
from clustergen.manifest.model import Manifest
from clustergen.slurmconf import scalars
from clustergen.slurmrules.field_table import Field
from clustergen.units import Duration, UnitError
from clustergen.units.digits import whole


def value_of(row: Field, text: str, model: type[BaseModel] = Manifest) -> Value | None:
    """A text of Slurm's as the value of a field of `model`; None where the field cannot hold it."""
    value: Value | None
    if row.values:
        word = text.lower().rpartition("/")[2] if row.form == "plugin" else text.lower()
        value = row.values.get(word)
    elif row.form == "word":
        value = True if text.strip().lower() == row.word.lower() else None
    else:
        value = _READERS[row.form](text) if row.form in _READERS else None
    return value if value is not None and takes(model, row.path, value) else None


def takes(model: type[BaseModel], path: str, value: Value) -> bool:
    """True if a field of `model` takes the value."""
    return fits(value, _type_of(model, path))


def fits(value: object, form: Any) -> bool:
    """True if a type of the manifest takes the value."""
    try:
        _adapter(form).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


@cache
def _adapter(form: Any) -> TypeAdapter[Any]:
    return TypeAdapter(form)


@cache
def _type_of(model: type[BaseModel], path: str) -> Any:
    """The field's own type, with its bounds; of a mapping, that of its values."""
    form: Any = model
    for name in path.split("."):
        if isinstance(form, type) and issubclass(form, BaseModel):
            info = form.model_fields[name]
            form = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        else:
            form = get_args(form)[1]
        form = _plain(form)
    return form


def _plain(form: Any) -> Any:
    """A section that may be left out as the section."""
    inner = get_args(form)[0] if get_origin(form) is Annotated else form
    others = [one for one in get_args(inner) if one is not type(None)]
    is_section = get_origin(inner) in (Union, UnionType) and len(others) == 1
    return others[0] if is_section and (inner is form or issubclass(others[0], BaseModel)) else form


def path(text: str) -> Value | None:
    return text if text.startswith("/") else None


def directory(text: str) -> Value | None:
    """One that the tree may create and own."""
    return path(text) if text.startswith("/") and not is_listed(text) else None


def number(text: str) -> Value | None:
    """A number without a unit; hexadecimal and octal ones too."""
    return scalars.unsigned(text, "") if text and len(text) < 16 else None


def duration(text: str) -> Value | None:
    """The duration in Slurm's form, where that is the same length."""
    try:
        parsed = Duration.parse(text)
    except UnitError:
        return None
    plain = ("-" in text or ":" in text) and not text.startswith(("0-", "00-"))
    return "unlimited" if parsed.unlimited else text if plain else parsed.slurm()


def seconds(text: str) -> Value | None:
    """GraceTime: a bare number counts seconds."""
    if text.isascii() and text.isdigit() and len(text) < 9:
        return Duration(int(text)).slurm()
    return duration(text)


def mebibytes(text: str) -> Value | None:
    return f"{whole(text)}MiB" if text.isascii() and text.isdigit() and 0 < whole(text) < 1 << 40 else None


def words(text: str) -> Value | None:
    """The words of a list with commas, each once."""
    return tuple(dict.fromkeys(scalars.words(text))) or None


def _level(text: str) -> Value | None:
    return scalars.LOG_LEVELS[int(text)] if re.fullmatch("[0-9]", text) else text.lower()


def _plugins(text: str) -> Value | None:
    return tuple(dict.fromkeys(_plugin(word) for word in text.split(",") if word.strip())) or None


def _plugin(text: str) -> str:
    return text.strip().lower().rpartition("/")[2]


_READERS: dict[str, Callable[[str], Value | None]] = {
    "text": lambda text: text,
    "path": path,
    "directory": directory,
    "number": number,
    "boolean": scalars.boolean,
    "minutes": duration,
    "seconds": seconds,
    "MiB": mebibytes,
    "upper": str.upper,
    "lower": str.lower,
    "level": _level,
    "words": words,
    "lower words": lambda text: words(text.lower()),
    "names": lambda text: None if text.upper() == "ALL" else words(text),
    "plugin": _plugin,
    "plugins": _plugins,
}
