"""Hints for a value of another shape: a list in place of a text or a mapping, a text in place of either.

Each proposal is tried against the type of its field, so that what a hint says to write is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from clustergen.diagnostics.forms import meant_by, sample_of, text_hint
from clustergen.diagnostics.model_path import annotated, choices_of, entry_of, fields_of, keys_of, required_of
from clustergen.diagnostics.words import on_one_line
from clustergen.hostlist import HostlistError, compress

_MOST_ITEMS = 8
_LONGEST_HINT = 100
_COUNTED = re.compile(r"([0-9]{1,3})\s*[x×*]\s*(\S.*)")
_PAIR = re.compile(r"([A-Za-z][\w./:-]*?)\s*(?:=|:(?=\d+[KMGTP]?(?:[,\s]|$)))\s*([^,\s]+)")
_COUNT_OF = "count", "model"
_MOST_COUNTED = 64
_MOST_NUMBERS = 16
_LONGEST_TEXT = 500  # a hint is shorter, and to look for pairs in a text of n characters takes n² steps
_MODEL = re.compile("[a-z]-?[0-9]{2}", re.IGNORECASE)  # of a product's name, as h100 and rtx-a6000
_NO_HOSTLIST = "a[,"
_SEVERAL = "unknown, and gres_type: false beside it: a node type has one model"
SEVERAL_MODELS = {"model": "unknown", "gres_type": False}
"""GPUs of a node that are not all alike: counted, and without a type in Slurm."""


def as_one(values: Sequence[Any], declared: Any) -> str | None:
    """Items of a list as the one text that the field accepts: `"gpu[1-8]"`, or the only item; None for others."""
    if len(values) == 2 and all(type(value) is int for value in values):
        ends = f"{values[0]}-{values[1]}"
        return None if declared is None or refusal(declared, ends)[0] else ends
    if not values or not all(isinstance(value, str) for value in values):
        return None
    if len(values) == 1:
        return None if refusal(declared, values[0])[0] else on_one_line(values[0])
    if declared is not None and not refusal(declared, _NO_HOSTLIST)[0]:
        is_gpu = isinstance(declared, FieldInfo) and "unknown: an NVIDIA GPU" in (declared.description or "")
        return _SEVERAL if is_gpu else None  # any text is accepted, and a list of names is no name
    try:
        folded = ",".join(values) if any("[" in value for value in values) else compress(values)
    except HostlistError:
        return None
    is_accepted = "," not in folded if declared is None else not refusal(declared, folded)[0]
    return f'"{folded}"' if folded and is_accepted and len(folded) <= _LONGEST_HINT else None


def list_hint(value: Any, text: str, declared: Any) -> str | None:
    """The hint for a scalar where a list is expected: `text` is the value in the file."""
    model, _ = entry_of(declared)
    if model is not None:
        required = required_of(model)
        is_enough = len(required) == 1 and not any(refusal(field, value)[0] for field in required.values())
        return f"write [{on_one_line(dict.fromkeys(required, value))}]" if is_enough else None
    if not isinstance(value, str):
        return f"write [{text}]" if declared is None or not refusal(declared, [value])[0] else None
    if (numbers := numbers_of(value)) and declared is not None and not refusal(declared, numbers)[0]:
        return f"write {numbers}"
    refused, instead = refusal(declared, [value])
    parts = [part for part in re.split(r"[,\s]+", value) if part]
    is_line = instead is not None and len({"." in part for part in parts}) > 1  # server ntp.example.org iburst
    if len(parts) > 1 and not is_line and declared is not None and refused and not refusal(declared, parts)[0]:
        return f"write {on_one_line(parts)}"
    if refused and instead:
        meant = instead.removeprefix("write ")
        return f"write [{meant}]" if not refusal(declared, [meant])[0] else f"write a list: {meant}"
    items = get_args(declared.annotation) if isinstance(declared, FieldInfo) else ()
    if refused and items and (choices := choices_of(items[0])):
        every = value.lower() in ("all", "any", "*")
        return f"write {on_one_line(list(choices)) if every else 'a list of ' + ', '.join(map(str, choices))}"
    if refused and (ends := re.fullmatch(r"([0-9]+)\s*(?:-|to|\.\.)\s*([0-9]+)", value)):
        text = f"{ends[1]}, {ends[2]}"
    elif refused:
        return None
    elif text[:1] not in ("'", '"') and set(value) & set(",[]{}#"):
        text = f'"{text}"'
    return f"write [{text}]"


def numbers_of(text: str) -> list[int]:
    """The numbers of a short range: 0-2."""
    match = re.fullmatch(r"([0-9]{1,3})(?:-|\.\.)([0-9]{1,3})", text.strip())
    first, last = (int(match[1]), int(match[2])) if match else (0, -1)
    return [*range(first, last + 1)] if last - first < _MOST_NUMBERS else []


def entry_hint(model: type[BaseModel]) -> str:
    """The hint for what is no list of sections: a list with one, by the keys that it requires."""
    keys = list(required_of(model)) or keys_of(model)[:2]
    return f"write a list with an entry for each: [{{{', '.join(f'{key}: …' for key in keys)}}}, …]"


def named_entries(values: Sequence[Any]) -> str:
    """The hint for list items where names are keys."""
    name = values[0].get("name") if isinstance(values[0], Mapping) else None
    if isinstance(name, str):
        return f"write '{name}:' in place of '- name: {name}', with its other keys below it"
    return "write 'NAME: …' lines instead of list items that begin with '-'"


def list_as_mapping(values: Sequence[Any], declared: Any) -> str | None:
    """A list of texts as the mapping that the field accepts: `{ml: {}, physics: {}}`, `{users: [alice]}`."""
    if len(values) <= _MOST_COUNTED and (counted := _counted_models(values, declared)):
        return _short(counted)
    if values and all(isinstance(value, Mapping) for value in values):
        section = {key: part for value in values for key, part in value.items()}
        return None if declared is None or refusal(declared, section)[0] else _short(section)
    if len(values) > _MOST_ITEMS or not all(isinstance(value, str) for value in values):
        return None
    if pairs := as_pairs(", ".join(values), declared):
        return pairs
    model, is_list = entry_of(declared)
    if model is None:
        named: dict[str, Any] = {value: {} for value in values}
        return None if declared is None or refusal(declared, named)[0] else _short(named)
    if is_list:
        return None
    sections: dict[str, Any] = {value: {} for value in values}
    if not refusal(declared, sections)[0]:  # `containers: [docker, apptainer]`
        return _short(sections)
    lists = {key: field for key, field in fields_of(model).items() if get_origin(field.annotation) is tuple}
    first = next((key for key, field in lists.items() if not refusal(field, list(values))[0]), None)
    return _short({first: list(values)}) if first and not required_of(model).keys() - {first} else None


def _counted_models(values: Sequence[Any], declared: Any) -> dict[str, Any] | None:
    """Devices listed by model, as `4 x h100` or `{model: h100, count: 4}`, where the field accepts one model of all."""
    model, is_list = entry_of(declared)
    if model is None or is_list or not set(_COUNT_OF) <= model.model_fields.keys():
        return None
    names, total = set(), 0
    for value in values:
        counted = _COUNTED.fullmatch(value) if isinstance(value, str) else None
        entry = value if isinstance(value, Mapping) else {"model": value}
        name, count = (counted[2], int(counted[1])) if counted else (entry.get("model"), entry.get("count", 1))
        if not isinstance(name, str) or not isinstance(count, int):
            return None
        names.add(name)
        total += count
    meant = {"model": names.pop(), "count": total} if len(names) == 1 else {**SEVERAL_MODELS, "count": total}
    return None if refusal(declared, meant)[0] else meant


def counted_keys(section: Mapping[str, Any], model: type[BaseModel]) -> str | None:
    """The devices of a mapping of models to numbers: `{model: h100, count: 8}` of `{h100: 8}`; None for others."""
    others = {key: value for key, value in section.items() if key not in model.model_fields}
    if not others or not all(
        _MODEL.search(key) or (isinstance(value, Mapping) and "model" in value) for key, value in others.items()
    ):
        return None
    rows = [
        {"model": key, **value} if isinstance(value, Mapping) else {"model": key, "count": value}
        for key, value in others.items()
    ]
    meant = _counted_models(rows, model)
    return _short(meant) if meant else None


def as_mapping(value: str | float, declared: Any) -> str | None:
    """A scalar as the mapping that was meant: `{gres/gpu: 8}` for `gres/gpu=8`, `{cidr: …}` for a network."""
    model, is_list = entry_of(declared)
    if model is None or is_list or isinstance(value, bool):
        return None
    counted = _COUNTED.fullmatch(value) if isinstance(value, str) else None
    if counted and {"model", "count"} <= model.model_fields.keys():
        return _short({"model": counted[2], "count": int(counted[1])})
    source = getattr(model, "SOURCE", "")
    if source and "type" not in model.model_fields and (match := re.fullmatch(source, str(value))):
        return _short({name: int(text) if text.isdigit() else text for name, text in match.groupdict().items() if text})
    meant = getattr(model, "MEANT_BY_SCALAR", "")
    if meant and (section := _under(meant, value, model.model_fields[meant])):
        return section
    if isinstance(value, int) and "count" in model.model_fields:
        return _short({"count": value})
    fields, required = fields_of(model), required_of(model)
    accepting = [name for name, field in fields.items() if not refusal(field, value)[0]]
    choices = [name for name in accepting if choices_of(fields[name])]
    enough = [name for name in required if name in accepting and len(required) == 1]
    name = next((names[0] for names in (enough, choices, accepting) if len(names) == 1), None)
    if name is None:
        return None
    samples = {key: sample_of(field) for key, field in required.items() if key != name}
    entry = {name: value, **{key: sample.text for key, sample in samples.items() if sample}}
    return _short(entry) if all(samples.values()) else None


def _under(key: str, value: str | float, declared: Any) -> str | None:
    """The value below a key, with what a hint of the field writes for it: `{max: 40kW} or {max: 40W}`."""
    is_refused, instead = refusal(declared, value)
    if not is_refused:
        return f"{{{key}: {value}}}" if _is_value(str(value)) else _short({key: value})
    texts = (instead or "").removeprefix("write ").split(" or ")
    return " or ".join(f"{{{key}: {text}}}" for text in texts) if all(map(_is_value, texts)) else None


def _is_value(text: str) -> bool:
    return re.fullmatch(r"\w[\w.%/-]*", text) is not None


def as_pairs(text: str, declared: Any) -> str | None:
    """`a=1,b=2` as `{a: 1, b: 2}`, where the field accepts it."""
    if declared is None or len(text) > _LONGEST_TEXT or _PAIR.sub("", text).strip(", "):
        return None
    pattern = key_pattern(declared)
    texts = {meant_by(key, pattern): value for key, value in _PAIR.findall(text)}
    pairs = {key: _number(value) for key, value in texts.items()}
    amounts = {key: f"{value}iB" for key, value in texts.items() if re.fullmatch(r"\d+[KMGTP]", value)}
    tries = (pairs, {**pairs, **amounts}) if pairs else ()
    return next((_short(each) for each in tries if not refusal(declared, each)[0]), None)


def _number(text: str) -> int | float | str:
    return int(text) if text.isdigit() else float(text) if re.fullmatch(r"\d+\.\d+", text) else text


def key_pattern(declared: Any) -> str:
    """The pattern of a mapping's keys, empty where they have none."""
    annotation = declared.annotation if isinstance(declared, FieldInfo) else declared
    keys = get_args(annotation)[:1] if get_origin(annotation) is dict else ()
    parts = (getattr(part, "pattern", None) for key in keys for part in getattr(key, "__metadata__", ()))
    return next((str(pattern) for pattern in parts if pattern), "")


def _short(value: Any) -> str | None:
    line = on_one_line(value)
    return line if len(line) <= _LONGEST_HINT else None


def refusal(declared: Any, value: Any) -> tuple[bool, str | None]:
    """The refusal of this value by a field, and the hint of what to write instead."""
    if declared is None:
        return False, None
    try:
        TypeAdapter(annotated(declared)).validate_python(value)
    except ValidationError as err:
        return True, next(filter(None, map(_hint_of, err.errors(include_url=False))), None)
    except PydanticUserError:  # a type that pydantic cannot judge alone
        return False, None
    return False, None


def _hint_of(error: Any) -> str | None:
    context, value = error.get("ctx", {}), error["input"]
    if hint := context.get("hint"):
        return str(hint)
    return text_hint(value, context["pattern"]) if "pattern" in context and isinstance(value, str) else None
