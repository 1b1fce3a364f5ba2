"""Hints for a value of a wrong type, tried against the type of its field, and for a missing key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from clustergen.diagnostics.conversions import conversion_hint, fits, sample_section
from clustergen.diagnostics.forms import sample_of
from clustergen.diagnostics.model_path import choices_of, entry_of, keys_of, models_of, plain_of, required_of, tags_of
from clustergen.diagnostics.shapes import (
    as_mapping,
    as_one,
    as_pairs,
    entry_hint,
    list_as_mapping,
    list_hint,
    named_entries,
    numbers_of,
    refusal,
)
from clustergen.diagnostics.words import on_one_line, one_of, quote, suggest
from clustergen.units import Bare, Bytes, UnitError

_SHORTEST_NAME, _LONGEST_NAME = 2, 40
_MOST_KEYS = 8
_MOST_LONGER = 3
_GENERIC = frozenset(("address", "addresses", "host", "hosts", "items", "list", "name", "names", "server", "servers"))
"""Keys of a mapping in place of a list that are no items of it."""
_LONGEST_ENTRY = 100
_MOST_NAMES = 4


_MEANT = {
    "slurmctld": "slurm-controller",
    "controller": "slurm-controller",
    "head": "slurm-controller",
    "slurmd": "slurm-compute",
    "compute": "slurm-compute",
    "worker": "slurm-compute",
    "slurmdbd": "slurm-accounting",
    "accounting": "slurm-accounting",
    "db": "slurm-accounting",
    "mariadb": "slurm-accounting",
    "submit": "login",
    "frontend": "login",
    "prometheus": "monitoring",
    "grafana": "monitoring",
    "alertmanager": "monitoring",
    "rsyslog": "log-collector",
    "syslog": "log-collector",
    "opensm": "subnet-manager",
    "amd64": "x86_64",
    "x86-64": "x86_64",
    "arm64": "aarch64",
    "lacp": "802.3ad",
    "4": "802.3ad",
    "ib": "infiniband",
    "eth": "ethernet",
    "rocev2": "roce",
    "nfs3": "nfs",
    "nfs4": "nfs",
    "gpfs": "storage_scale",
    "spectrum_scale": "storage_scale",
    "spectrum-scale": "storage_scale",
    "scale": "storage_scale",
    "ceph": "cephfs",
    "wekafs": "weka",
    "ext4": "local",
    "xfs": "local",
    "firewalld": "true",
}
"""Common names of a value → the value of the manifest."""


_SWITCH = ("true", "false")
_WORDS_OF_SWITCHES = {
    **dict.fromkeys(("yes", "on", "y", "1"), "true"),
    **dict.fromkeys(("no", "off", "n", "0"), "false"),
}
_YES, _NO = ("yes", "on"), ("no", "off")  # text to YAML 1.2


_PLAIN_UNITS = {
    "A": "amps",
    "V": "volts",
    "VA": "VA",
    "kg": "kg",
    "m": "metres",
    "MHz": "MHz",
    "min": "minutes",
    "minutes": "minutes",
}
"""Spelling of a unit → the field's key, or the word for it in the field's description."""
_NAMES = {"amps": "amperes"}
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6}
_UNITS = {
    "C": "K",
    "°C": "K",
    "s": "seconds?",
    "sec": "seconds?",
    "h": "hours?",
    "d": "days?",
    "w": "weeks?",
    "m": "metres?|minutes?",
    "y": "years?",
    "yr": "years?",
    "U": "units|rack_units",
}
"""Spelling of a unit → words for it in a field's key or description, as a pattern."""


def choice_hint(value: str, allowed: list[str], takes_switch: bool = False) -> str:
    """The hint for a value that is not allowed: another name of one, the closest one, or all."""
    plain = value.strip().lower()
    meant = _MEANT.get(plain) or plain.rpartition("/")[2]  # topology/tree
    if (meant in allowed and meant != plain) or (takes_switch and meant in _SWITCH):
        return f"write {meant}"
    beginnings = [choice for choice in allowed if choice.partition("-")[0] == value.strip()]
    if len(beginnings) == 1:
        return f"did you mean {quote(beginnings[0])}?"
    endings = [choice for choice in allowed if choice.rpartition("-")[2] == value.strip()]
    if len(endings) == 1:
        return f"did you mean {quote(endings[0])}?"
    guess = suggest(value, allowed)
    is_other_version = guess is not None and _letters(guess) == _letters(value) and _digits(guess) != _digits(value)
    if guess and not is_other_version:
        return f"did you mean {quote(guess)}?"
    return f"use {', '.join(_SWITCH)} or {one_of(allowed)}" if takes_switch else f"use {one_of(allowed)}"


def beginning_hint(key: str, keys: list[str]) -> str | None:
    """The hint for a key that is only the first word of others: `gpu` for `gpu_count` and `gpu_settings`."""
    longer = [name for name in keys if name.startswith(f"{key.lower()}_")]
    return f"write {' or '.join(longer)}" if 0 < len(longer) <= _MOST_LONGER else None


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


def literal_hint(expected: list[str], value: Any, text: str, declared: Any, key: str = "") -> str | None:
    """The hint for a value of a wrong type; `text`: the value in the file, `declared`: the type of field `key`.

    What is known of values as this one comes first, then a value of the field's type made of it, then the form.
    """
    hint = _specific_hint(expected, value, text, declared, key) or conversion_hint(value, declared)
    if hint is None and type(value) in (int, float) and expected[0] != "a list":
        hint = conversion_hint(text, declared)  # a number that is a text: 24.10
    return hint or _form_hint(expected[0], value, declared)


def _specific_hint(expected: list[str], value: Any, text: str, declared: Any, key: str) -> str | None:
    first = expected[0]
    if "text" in expected and isinstance(value, (bool, int, float)) and text:
        refused, instead = refusal(declared, text)
        return instead if refused else f'put it in quotes: "{text}"'
    if first == "true or false":
        return _switch_hint(value, text)
    if first in ("a whole number", "a number"):
        return _for_number(first, value, text, declared, key)
    if first == "text" and "a number" in expected and isinstance(value, (list, tuple)):  # a program's option
        is_plain = value and all(isinstance(each, (str, int)) for each in value)
        return f"write {on_one_line(value[0] if len(value) == 1 else ','.join(map(str, value)))}" if is_plain else None
    if first == "text":
        return _for_text(value, declared)
    if first == "a list":
        return _for_list(value, text, declared, key)
    if first == "a mapping":
        return _for_mapping(value, declared)
    return f"write {value[0]}" if _is_only(value) and quote(value[0]) in first else None


def _form_hint(first: str, value: Any, declared: Any) -> str | None:
    """The hint for a value that says nothing of what is meant: the form of the field."""
    model, is_list = entry_of(declared)
    if first in ("a whole number", "a number"):
        return range_hint(declared) or _description(declared)
    if first == "true or false":
        return "write true or false" if value is not None else None
    if model is not None and isinstance(value, (dict, list, tuple, str, int, float)) and first == "a list":
        if isinstance(value, dict) and "name" in model.model_fields:
            return "begin each entry with '- name: …'"
        return entry_hint(model)
    if first != "a mapping" or value is None:
        return None
    if names := _names_in(value, declared):
        return f"write {{{', '.join(f'{name}: …' for name in names)}}}"
    if isinstance(value, (list, tuple)):
        is_section = model is not None and not is_list and get_origin(getattr(declared, "annotation", None)) is not dict
        if not value:
            return None
        return (
            named_entries(value) if isinstance(value[0], dict) or not is_section else _section_hint(value[0], declared)
        )
    return _section_hint(value, declared)


def _names_in(value: Any, declared: Any) -> list[str]:
    """The few names where the field is a mapping of names to scalars."""
    kind = plain_of(declared)
    rows = list(value) if isinstance(value, (list, tuple)) else [value]
    is_of_scalars = get_origin(kind) is dict and not models_of(get_args(kind)[1])
    is_named = is_of_scalars and len(rows) <= _MOST_NAMES and all(isinstance(row, str) for row in rows)
    return [row for row in rows if re.fullmatch(r"[\w.-]{1,30}", row)] if is_named else []


def _is_only(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 1


def _switch_hint(value: Any, text: str) -> str | None:
    if str(value).lower() in _WORDS_OF_SWITCHES:
        return f"write {_WORDS_OF_SWITCHES[str(value).lower()]}"
    if text[:1] in ("'", '"') and text[1:-1] in _SWITCH:
        return f"remove the quotes: {text[1:-1]}"
    return None


def _for_number(first: str, value: Any, text: str, declared: Any, key: str) -> str | None:
    if isinstance(value, str):
        return _number_hint(first, value, text, declared, key)
    if first == "a whole number" and isinstance(value, float):
        return f"write {int(value)}" if value.is_integer() else None
    return range_hint(declared) if isinstance(value, bool) else None


def _for_text(value: Any, declared: Any) -> str | None:
    if isinstance(value, dict) and (name := value.get("name")) and not refusal(declared, name)[0]:
        return f"write {on_one_line(name)}"
    if not isinstance(value, (list, tuple)) or not value:
        return None
    if one := as_one(value, declared):
        return f"write {one}"
    is_text = declared is not None and all(isinstance(each, str) for each in value)
    return f"write one of them: {on_one_line(value[0])}" if is_text and not refusal(declared, value[0])[0] else None


def _for_list(value: Any, text: str, declared: Any, key: str) -> str | None:
    if isinstance(value, dict):
        return _list_of_mapping(value, declared)
    if not isinstance(value, (str, int, float)) or not 0 < len(text) < 60:
        return None
    if key.startswith("allow_") and str(value).lower() == "all":
        return "remove it: without the key, all are allowed"
    return list_hint(value, text, declared)


def _for_mapping(value: Any, declared: Any) -> str | None:
    if value is None:
        return _hint_for_nothing(declared)
    if isinstance(value, (list, tuple)):
        mapping = list_as_mapping(value, declared) if value else None
        return f"write {mapping}" if mapping else None
    if isinstance(value, str) and (hint := _mapping_in(value, declared)):
        return hint
    if value in (*_YES, *_NO):
        return _section_hint(value, declared)
    if isinstance(value, (str, int, float)) and (mapping := as_mapping(value, declared)):
        return f"write {mapping}"
    return None


def _mapping_in(value: str, declared: Any) -> str | None:
    """The hint for a text of keys and values: `gres/gpu=8`, or without a blank behind the colon."""
    if pairs := as_pairs(value, declared):
        return f"write {pairs}"
    glued = re.match(r"([\w-]+):[^\s/]", value)
    return f"add a space after the colon of {quote(glued.group(1))}" if glued else None


def _hint_for_nothing(declared: Any) -> str:
    """The hint for a section without a value."""
    model, is_list = entry_of(declared)
    is_complete = model and not is_list and not required_of(model)
    if is_complete and getattr(declared, "default", ...) is None:
        return "write {} to enable it, or remove the line"
    return "write its keys below it, indented, or remove the line"


def _list_of_mapping(value: dict[Any, Any], declared: Any) -> str | None:
    """The hint for a mapping where a list is expected: its keys, or how the list is written."""
    listed = [part for each in value.values() for part in (each if isinstance(each, (list, tuple)) else [each])]
    is_of_values = _GENERIC.issuperset(value) or all(
        isinstance(part, str) and set(part) & set("./:@") for part in listed
    )
    pairs = [key if part is True else f"{key}={part}" for key, part in value.items()]
    is_of_pairs = not is_of_values and fits(pairs, declared)
    items = listed if is_of_values else pairs if is_of_pairs else list(value)
    if items and not refusal(declared, items)[0]:
        return f"write {on_one_line(items)}"
    if entry_of(declared)[0] is None:
        return None
    line = on_one_line([value])
    return f"write {line}" if len(line) <= _LONGEST_ENTRY and not refusal(declared, [value])[0] else None


def _section_hint(value: Any, declared: Any) -> str | None:
    """The hint for a scalar where a section is expected."""
    model, is_list = entry_of(declared)
    if tags := tags_of(declared, "type"):
        return f"write a section that begins with type: {one_of(tags)}"
    if model is None or is_list:
        return None
    if sample := sample_section(model):
        return f"write a section, as {on_one_line(sample)}"
    keys = ", ".join(keys_of(model)[:_MOST_KEYS])
    if value is False or value in _NO:
        return "remove the line"
    is_on = value is True or value in _YES
    if is_on and not required_of(model):
        return f"write {{}}, or a section with {keys}"
    return f"write a section, which has the keys {keys}" if keys else None


def _in_unit(value: str, key: str, declared: Any) -> str | None:
    """The hint for a number as a ratio, or with a unit, where the field is a number of that unit: `32A` for amps."""
    if ratio := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?):1", value.strip()):
        return f"write {ratio[1]}"
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(k(?!g$))?([A-Za-z]+)", value.strip())
    name = _PLAIN_UNITS.get(match[3]) if match else None
    description = (declared.description or "") if isinstance(declared, FieldInfo) else ""
    if match is None or name is None or (name != key and not re.search(rf"\bin {name}\b", description)):
        return None
    return f"write {float(match[1]) * (1000 if match[2] else 1):g}: the field is a number of {_NAMES.get(name, name)}"


def _number_hint(expected: str, value: str, text: str, declared: Any, key: str) -> str | None:
    """The hint for a text where a number is expected: the number, or the description of the field."""
    description = (declared.description or "") if isinstance(declared, FieldInfo) else ""
    if expected == "a whole number" and " in MiB" in description and not value.isdigit():
        return _in_mib(value)
    if number := number_in(value, key, declared):
        return number
    if expected == "a whole number" and re.fullmatch("0+[1-9][0-9]*|[0-9]+%", value):
        return f"write {int(value.rstrip('%'))}"  # with a leading zero octal to some readers of YAML
    if grouped := re.fullmatch(r"[1-9][0-9]{0,2}(?:[., '][0-9]{3})+", value):
        return f"write {re.sub('[^0-9]', '', grouped[0])}"
    if listed := numbers_of(value):
        return f"write {on_one_line(listed)[1:-1]}"
    if text[:1] in ("'", '"') and re.fullmatch(r"-?[0-9.]+", text[1:-1]):
        return f"remove the quotes: {text[1:-1]}"
    return None


def _description(declared: Any) -> str | None:
    description = (declared.description or "") if isinstance(declared, FieldInfo) else ""
    return f"write a number: {description.rstrip('.')}" if description else None


def number_in(value: str, key: str, declared: Any) -> str | None:
    """The hint for a number with the unit of its field, or one that the field has not."""
    number = _number(value, key, declared)
    return _in_unit(value, key, declared) or (f"write {number}" if number else None)


def _number(value: str, key: str, declared: Any) -> str | None:
    """The number that a text stands for, in the unit of its field and accepted by it: `5 years`, `95%`, `1M`."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(%|[€$£]|°?[A-Za-z]+)", value.strip())
    if match is None:
        return None
    number, unit = float(match[1]), match[2]
    text = f"{key} {getattr(declared, 'description', '') or ''}"
    words = "" if unit == "%" else _UNITS.get(unit, rf"{unit.rstrip('s')}s?")
    candidates = [number * _FACTORS[unit]] if unit in _FACTORS else []
    if unit == "%" and not re.search("%|percent", text):
        candidates += [number / 100]
    if unit == "%" or re.fullmatch("[A-Z]{3}|[€$£]", unit) or re.search(rf"\b(?:{words})\b", text, re.IGNORECASE):
        candidates += [number]
    texts = (f"{candidate:.12g}" for candidate in candidates)
    return next((one for one in texts if not refusal(declared, int(one) if one.isdigit() else float(one))[0]), None)


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
    return f"write {key}: {on_one_line(declared.examples[0])}{instead}"


def bare_of(declared: Any) -> Bare | None:
    """The unit of bare numbers of a field that is a number of units of time."""
    return next((part for part in _constraints(declared) if isinstance(part, Bare)), None)


def _constraints(declared: Any) -> Iterator[Any]:
    """The constraints of a field, also where it may be left out: `Annotated[int, …] | None`."""
    for part in (*getattr(declared, "metadata", ()), *getattr(declared, "__metadata__", ())):
        yield from part.metadata if isinstance(part, FieldInfo) else (part,)
    for inner in get_args(getattr(declared, "annotation", None)):
        yield from _constraints(inner)


def duration_hint(declared: Any) -> str:
    """The hint for a length of time: the bounds of its field, and its default."""
    bare, bounds = bare_of(declared), _bounds(declared)
    default = getattr(declared, "default", None)
    if bare is None or bounds.keys() != {"ge", "le"}:
        return "write a duration such as 90s, 30min or 24h"
    sample = sample_of(declared)
    default = None if default is PydanticUndefined else default
    usual = bare.shown(default) if isinstance(default, int) else default or (sample and sample.text)
    usual = f", such as {usual}" if usual else ""
    return f"write {bare.shown(bounds['ge'])} to {bare.shown(bounds['le'])}{usual}"


def _bounds(declared: Any) -> dict[str, Any]:
    parts = list(_constraints(declared))
    return {name: getattr(part, name) for part in parts for name in ("ge", "le") if hasattr(part, name)}


def range_hint(declared: Any) -> str | None:
    """The hint for a number: the bounds of its field, and what it stands for."""
    bounds, description = _bounds(declared), getattr(declared, "description", None)
    if bounds.keys() != {"ge", "le"} or not description:
        return None
    return f"write {bounds['ge']} to {bounds['le']}: {description.rstrip('.')}"


def is_list_of_scalars(declared: Any) -> bool:
    """True if a field is a list of texts or numbers."""
    annotation = declared.annotation if isinstance(declared, FieldInfo) else declared
    return get_origin(annotation) is tuple and entry_of(declared)[0] is None


def addition_hint(key: str, declared: Any, data: Any) -> str:
    """The hint for a missing key: a sample, its choices, the keys that its section requires, or its description."""
    if sample := sample_of(declared):
        names = data.get(sample.section) if isinstance(data, dict) else None
        return f"add {key}: {one_of([*names, sample.text], 6) if isinstance(names, dict) else sample.text}"
    if examples := getattr(declared, "examples", None) or getattr(
        getattr(declared, "annotation", None), "EXAMPLES", ()
    ):
        return f"add {key}: {on_one_line(examples[0])}"
    if choices := choices_of(declared):
        return f"add {key}: {one_of(choices)}"
    model, is_list = entry_of(declared)
    if required := required_of(model) if model else {}:
        return f"add {key}, {'a list of entries' if is_list else 'a section'} with {' and '.join(required)}"
    description = (declared.description or "").rstrip(".") if isinstance(declared, FieldInfo) else ""
    return f"add {key} ({description})" if description else f"add {key}"
