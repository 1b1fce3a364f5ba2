"""Hints for unknown keys in the user's names and values: the mapping that these keys and their values become."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from clustergen.diagnostics.model import Finding, ManifestPath
from clustergen.diagnostics.model_path import choices_of, entry_of, follow, keys_of, other_name, value_at
from clustergen.diagnostics.shapes import refusal
from clustergen.diagnostics.words import on_one_line, quote, where
from clustergen.records import replace

_LONGEST = 120


def of_user(hint: str, path: ManifestPath, value: Any = None) -> str:
    """A hint with the names of `path` in place of <name>, and a number in its only example replaced by `value`."""
    names = [part for part in path if isinstance(part, str)]
    if len(names) == len(path):
        for end in range(len(names) - 1, 1, -1):
            for at in range(1, end):
                above = ".".join(names[:at])
                hint = re.sub(rf"(?<![\w.]){re.escape(above)}\.<name>", f"{above}.{names[at]}", hint)
    if type(value) is int and len(re.findall(r"\d+", hint)) == 1:
        hint = re.sub(r"(\{[\w/]+: )\d+(?=\})", rf"\g<1>{value}", hint)
    return hint


def inner_key_hint(key: str, owner: type[BaseModel] | None) -> str | None:
    """The hint for `cpu.sockets` as a key where `cpu` is a section."""
    head, _, tail = key.partition(".")
    inner = entry_of(owner.model_fields[head])[0] if owner is not None and head in owner.model_fields else None
    return f"write {key}" if inner is not None and tail in keys_of(inner) else None


def other_names_hint(key: str, section: Any, owner: type[BaseModel] | None) -> str | None:
    """The hint for a key or a value by which a section means other ones of its keys, with the values there:
    `write server: 10.0.0.2, path: /export/home` for `source: 10.0.0.2:/export/home`.
    """
    value = section.get(key) if isinstance(section, Mapping) else None
    source = getattr(owner, "SOURCE", "")
    match = re.fullmatch(source, value) if source and isinstance(value, str) else None
    name = other_name(owner, key)
    if owner is None or not (match or name):
        return None
    meant = {part: text for part, text in match.groupdict().items() if text} if match else {str(name): value}
    absent = {part: part_value for part, part_value in meant.items() if part == key or section.get(part) != part_value}
    if not absent or (not match and name != key and name in section):
        return f"remove it: the entry has {' and '.join(meant)}"
    fitting = {part: _fitting(part_value, owner.model_fields[part]) for part, part_value in absent.items()}
    fitting = {part: part_value for part, part_value in fitting.items() if part_value is not None}
    if not fitting:
        return f"write {' and '.join(absent)}"
    return f"write {on_one_line(fitting)[1:-1]}"


def source_hint(value: str, models: list[type[BaseModel]]) -> str | None:
    """The hint for a text in place of a section, which stands for several keys of one kind of it."""
    for model in models:
        source = getattr(model, "SOURCE", "")
        match = re.fullmatch(source, value) if source else None
        kinds = choices_of(model.model_fields["type"]) if match and "type" in model.model_fields else ()
        if match and kinds:
            groups = {name: text for name, text in match.groupdict().items() if text}
            values = {name: _fitting(text, model.model_fields[name]) for name, text in groups.items()}
            return f"write {on_one_line({'type': kinds[0], **values})[:-1]}, …}}"
    return None


def _fitting(value: Any, declared: Any) -> Any:
    """The value, in a list or without one, as the field accepts it; None if it does not."""
    single = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
    plain = single.strip("/") if isinstance(single, str) else single
    tries = (plain, value, [plain], single)
    return next((one for one in tries if one is not None and not refusal(declared, one)[0]), None)


def list_item_hint(key: str, section: Any, owner: type[BaseModel] | None) -> str | None:
    """The hint for a word behind a comma that reads as a key: `{ntp: a, b}` has no list."""
    names = [*section] if isinstance(section, Mapping) else []
    if owner is None or not names or section.get(key, "") is not None:
        return None
    index = names.index(key)
    while index and section[names[index]] is None and names[index] not in owner.model_fields:
        index -= 1
    first, items = names[index], [section[names[index]], *names[index + 1 : names.index(key) + 1]]
    if first not in owner.model_fields or refusal(owner.model_fields[first], items)[0]:
        return None
    return f"write a list: {first}: {on_one_line(items)}"


def named_value_hint(key: str, value: Any, owner: type[BaseModel] | None) -> str | None:
    """The hint for a name among the keys of a section, whose only mapping of names to numbers accepts it:
    `items: {dgx-h100: 300000}`.
    """
    fields = owner.model_fields if owner is not None else {}
    names = [name for name, field in fields.items() if get_origin(field.annotation) is dict]
    if len(names) != 1 or not isinstance(value, (int, float)) or not refusal(fields[names[0]], {key: "-"})[0]:
        return None
    return (
        None
        if refusal(fields[names[0]], {key: value})[0]
        else f"move it to {fields[names[0]].alias or names[0]}: {on_one_line({key: value})}"
    )


def swapped(findings: list[Finding], model: type[BaseModel], data: Any) -> list[Finding]:
    """The findings, with one in place of those of an entry of the user's names whose key and value changed places:
    `{2027-03-31: Licence}`, or a name with its address.
    """
    result: dict[ManifestPath | int, Finding] = {}
    for index, finding in enumerate(findings):
        ends = [end for end in (len(finding.path), len(finding.path) - 1) if end > 1]
        entry, hint = next(
            ((path, hint) for end in ends if (hint := _swap(path := finding.path[:end], model, data))), ((), None)
        )
        if hint is None:
            result[index] = finding
        else:
            message = f"{where(entry[:-1], data)}: the key {quote(entry[-1])} and its value have changed places"
            result[entry] = Finding("text-malformed", entry, message, hint, key=True)
    return list(result.values())


def _swap(path: ManifestPath, model: type[BaseModel], data: Any) -> str | None:
    """The hint for an entry of a mapping whose value is refused, and accepted as a key for its key."""
    declared = follow(model, path[:-1]).declared
    annotation = getattr(declared, "annotation", declared)
    if get_origin(annotation) is not dict or not isinstance(key := path[-1], str):
        return None
    value = value_at(data, path)
    name = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
    if not isinstance(name, str) or not refusal(get_args(annotation)[1], value)[0]:
        return None
    accepted = (one for one in (key, [key]) if not refusal(declared, {name: one})[0])
    return next((f"write {on_one_line(name)}: {on_one_line(one)}" for one in accepted), None)


def in_one_section(findings: list[Finding], model: type[BaseModel], data: Any) -> list[Finding]:
    """The findings whose hints are paths into one section, as `write cpu.sockets`, with its mapping to paste."""
    groups: dict[ManifestPath, dict[str, tuple[int, Any]]] = {}
    changed = list(findings)
    for index, finding in enumerate(findings):
        if finding.code != "key-unknown" or not finding.hint:
            continue
        names = ".".join(part for part in finding.path[:-1] if isinstance(part, str))
        relative = finding.hint.replace(f"write {names}.", "write ", 1)
        if re.fullmatch(r"write \w+", relative):
            changed[index] = replace(finding, hint=relative)
        match = re.fullmatch(r"write (\w+)\.(\w+)", relative)
        if match is None:
            continue
        section, value = value_at(data, finding.path[:-1]), value_at(data, finding.path)
        inside = (*finding.path[:-1], match[1])
        field = follow(model, (*inside, match[2]))
        if field.declared is None or refusal(field.declared, value)[0] or not isinstance(section, Mapping):
            continue
        if match[1] in section:
            hint = f"write {on_one_line({match[2]: value})[1:-1]} in {match[1]}"
            changed[index] = replace(finding, hint=hint)
        else:
            groups.setdefault(inside, {}).setdefault(match[2], (index, value))
    for path, keys in groups.items():
        hint = f"write {path[-1]}: {on_one_line({key: value for key, (_, value) in keys.items()})}"
        if len(hint) <= _LONGEST:
            for index, _ in keys.values():
                changed[index] = replace(changed[index], hint=hint)
    return changed
