"""What to write instead of a value of a wrong type, tried against the type of its field, and for a missing key."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, get_origin

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from clustergen.diagnostics.forms import form_of
from clustergen.diagnostics.model_path import choices_of, entry_of
from clustergen.diagnostics.words import one_of, quote, suggest
from clustergen.hostlist import HostlistError, compress
from clustergen.units import Bytes, UnitError

_SHORTEST_NAME, _LONGEST_NAME = 2, 40
_MOST_KEYS = 8


_MEANT = {
    "slurmctld": "slurm-controller",
    "controller": "slurm-controller",
    "head": "slurm-controller",
    "slurmd": "slurm-compute",
    "compute": "slurm-compute",
    "worker": "slurm-compute",
    "slurmdbd": "slurm-accounting",
    "accounting": "slurm-accounting",
    "prometheus": "monitoring",
    "opensm": "subnet-manager",
    "ib": "infiniband",
    "eth": "ethernet",
    "rocev2": "roce",
}
"""What people call a value → the value of the manifest."""


def choice_hint(value: str, allowed: list[str]) -> str:
    """The hint for a value that is not allowed: another name of one, the closest one, or all."""
    meant = _MEANT.get(value.strip().lower())
    if meant in allowed:
        return f"write {meant}"
    endings = [choice for choice in allowed if choice.rpartition("-")[2] == value.strip()]
    if len(endings) == 1:
        return f"did you mean {quote(endings[0])}?"
    guess = suggest(value, allowed)
    is_other_version = guess is not None and _letters(guess) == _letters(value) and _digits(guess) != _digits(value)
    return f"did you mean {quote(guess)}?" if guess and not is_other_version else f"use {one_of(allowed)}"


def _letters(text: str) -> str:
    return re.sub("[^a-z]+", "", text.lower())


def _digits(text: str) -> str:
    return re.sub("[^0-9]+", "", text)


def name_hint(value: str, pattern: str, form: str | None) -> str | None:
    """The hint for a text that does not match: the same name in the characters that its field takes, and the form."""
    name = re.sub("[^a-z0-9]+", "-", value.lower()).strip("-")
    if form is None or not form.startswith("use ") or len(name) < _SHORTEST_NAME or not re.search(pattern, name):
        return form
    return f"write {name}: {form}" if len(name) <= _LONGEST_NAME else form


def literal_hint(expected: list[str], value: Any, text: str, declared: Any) -> str | None:
    """The hint for a value of a wrong type; `text` is the value in the file, `declared` the field's annotation."""
    first = expected[0]
    if "text" in expected and isinstance(value, (bool, int, float)) and text:
        refused, instead = _refusal(declared, text)
        return instead if refused else f'put it in quotes: "{text}"'
    if first == "true or false" and isinstance(value, str) and value.lower() in ("yes", "on", "no", "off", "y", "n"):
        return f"write {'true' if value.lower() in ('yes', 'on', 'y') else 'false'}"
    is_mib = isinstance(declared, FieldInfo) and " in MiB" in (declared.description or "")
    if first == "a whole number" and is_mib and isinstance(value, str) and not value.isdigit():
        return _in_mib(value)
    if first in ("a whole number", "a number", "true or false") and text[:1] in ("'", '"'):
        plain = text[1:-1]
        return f"remove the quotes: {plain}" if re.fullmatch(r"-?[0-9.]+|true|false", plain) else None
    if first == "a list" and isinstance(value, (str, int, float)) and 0 < len(text) < 60:
        return _as_list(value, text, declared)
    if first == "a mapping" and isinstance(value, str) and (glued := re.match(r"([\w-]+):\S", value)):
        return f"add a space after the colon of {quote(glued.group(1))}"
    if first == "a mapping" and isinstance(value, int) and _takes_count(declared):
        return f"write {{count: {text}}}"
    if first == "text" and isinstance(value, (list, tuple)) and (one := _as_one(value)):
        return f"write {one}"
    if first == "a list" and isinstance(value, dict) and (model := entry_of(declared)[0]) is not None:
        return "begin each entry with '- name: …'" if "name" in model.model_fields else None
    if first == "a mapping" and isinstance(value, (list, tuple)) and value:
        return "write 'NAME: …' lines instead of list items that begin with '-'"
    if first == "a mapping" and value is None:
        return "write its keys below it, indented, or remove the line"
    model, is_list = entry_of(declared)
    if first == "a mapping" and model is not None and not is_list and not isinstance(value, (list, tuple)):
        keys = [field.alias or name for name, field in model.model_fields.items()]
        return f"write a section, which has the keys {', '.join(keys[:_MOST_KEYS])}" if keys else None
    return None


def _as_one(values: Sequence[Any]) -> str | None:
    """Items of a list as the one host list that they fold to: `"gpu[1-8]"`; None for others."""
    if not all(isinstance(value, str) for value in values):
        return None
    try:
        folded = compress(values)
    except HostlistError:
        return None
    return f'"{folded}"' if folded and "," not in folded else None


def _in_mib(text: str) -> str:
    """The hint for an amount of memory with a unit, where the field is a plain number of MiB."""
    try:
        mib = Bytes.parse(text).mib
    except UnitError:
        mib = 0
    return f"write {mib}: the field is a number of MiB" if mib else "write a number of MiB"


def example_hint(key: str, declared: Any) -> str | None:
    """The hint for a key without a value, where its field has an example."""
    if not isinstance(declared, FieldInfo) or not declared.examples:
        return None
    instead = "" if declared.is_required() else ", or remove the line"
    return f"write {key}: {_on_one_line(declared.examples[0])}{instead}"


def _on_one_line(value: Any) -> str:
    """A value as YAML, which JSON is: quotes only where a text needs them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_on_one_line(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, value))}]"
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z/][\w/-]*", value)
    return value if plain else json.dumps(value)


def _as_list(value: Any, text: str, declared: Any) -> str | None:
    """The value as a list of one entry, in quotes where YAML would split it; else what the entry has to be."""
    if isinstance(value, str) and text[:1] not in ("'", '"') and set(value) & set(",[]{}#"):
        text = f'"{text}"'
    if isinstance(value, str):
        refused, instead = _refusal(declared, [value])
        if refused and instead:
            return f"write a list: {instead}"
    return f"write [{text}]"


def is_list_of_scalars(declared: Any) -> bool:
    """Whether a field is a list of texts or numbers."""
    annotation = declared.annotation if isinstance(declared, FieldInfo) else declared
    return get_origin(annotation) is tuple and entry_of(declared)[0] is None


def _takes_count(declared: Any) -> bool:
    model, is_list = entry_of(declared)
    return model is not None and not is_list and "count" in model.model_fields


def _refusal(declared: Any, value: Any) -> tuple[bool, str | None]:
    """Whether a field refuses this value, and the hint of what to write instead."""
    if declared is None:
        return False, None
    if isinstance(declared, FieldInfo):
        declared = Annotated[declared.annotation, *declared.metadata] if declared.metadata else declared.annotation
    try:
        TypeAdapter(declared).validate_python(value)
    except ValidationError as err:
        contexts = [error.get("ctx", {}) for error in err.errors(include_url=False)]
        hints = (context.get("hint") or form_of(context.get("pattern", "")) for context in contexts)
        return True, next(filter(None, hints), None)
    except PydanticUserError:  # a type that pydantic cannot judge alone
        return False, None
    return False, None


def addition_hint(key: str, declared: Any) -> str:
    """The hint for a missing key: its choices, the keys that its section requires, or its description."""
    if choices := choices_of(declared):
        return f"add {key}: {one_of(choices)}"
    model, is_list = entry_of(declared)
    required = (
        [field.alias or name for name, field in model.model_fields.items() if field.is_required()] if model else []
    )
    if required:
        return f"add {key}, {'a list of entries' if is_list else 'a section'} with {' and '.join(required)}"
    description = (declared.description or "").rstrip(".") if isinstance(declared, FieldInfo) else ""
    return f"add {key} ({description})" if description else f"add {key}"
