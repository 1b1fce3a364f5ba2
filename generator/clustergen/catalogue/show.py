"""Topics of the catalogue as text and as JSON documents: lists to choose from, and one row with its sources."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from clustergen.catalogue.labels import label, sources
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.systems import Cpu, Psu
from clustergen.catalogue.topics import TOPICS, Topic
from clustergen.records import fields

_WIDTH = 100
_MARK, _LEGEND = "?", "no source confirmed the value"
_UNITS = {
    "_gbit": "Gb/s", "_gb_s": "GB/s", "_gb": "GB", "_gib": "GiB", "_mhz": "MHz", "_w": "W", "_watt": "W", "_kg": "kg",
    "_cfm": "CFM", "_tflops": "TFLOPS", "_mm": "mm", "_btu_h": "BTU/h", "_pct": "%",
}  # fmt: skip
_HEADING = {"id", "name", "aliases", "unverified", "source", "note"}
_PLACED = {"gpus": "layout", "nics": "layout"}
"""Parts of a system whose mark is on the whole set."""


def topics_text() -> str:
    """All topics: name, what it lists, and the field of the manifest that names a row."""
    lines = [f"{topic.name:10} {topic.summary:32} {topic.field}" for topic in TOPICS.values()]
    return "\n".join(lines) + "\n"


def list_text(topic: Topic) -> str:
    """Every row of a topic with the facts to choose by; `?` marks what no source confirmed."""
    body = [
        [column.text(row) + (f" {_MARK}" if column.is_unconfirmed(row) else "") for column in topic.columns]
        for row in topic.rows()
    ]
    text = table([column.title for column in topic.columns], body)
    if any(cell.endswith(f" {_MARK}") for row in body for cell in row):
        text += f"\n{_MARK} {_LEGEND}"
    return f"{text}\nAll facts of one, with their sources: clustergen catalogue {topic.name} NAME\n"


def matching(topic: Topic, words: str) -> list[Any]:
    """The rows that have `words` in their id, title, aliases or columns, in any case; where some have them as whole
    words, only those: `h200` is no GH200.
    """

    def texts(row: Any) -> tuple[str, ...]:
        return (topic.id(row), topic.title(row), *topic.aliases(row), *(column.text(row) for column in topic.columns))

    searched = words.strip().lower()
    matches = [row for row in topic.rows() if any(searched in text.lower() for text in texts(row))]
    whole = re.compile(rf"(?<![a-z0-9]){re.escape(searched)}(?![a-z0-9])")
    return [row for row in matches if any(whole.search(text.lower()) for text in texts(row))] or matches


def search_text(words: str) -> str:
    """The rows of all topics that match, by topic; empty where none does."""
    body = [
        [topic.name, topic.id(row), topic.title(row)] for topic in TOPICS.values() for row in matching(topic, words)
    ]
    if not body:
        return ""
    return f"{table(['topic', 'name', 'title'], body)}\nAll facts of one: clustergen catalogue TOPIC NAME\n"


def search_json(words: str) -> dict[str, Any]:
    """The same with the field of the manifest that names each row."""
    matches = [
        {"topic": topic.name, "field": topic.field, "name": topic.id(row), "title": topic.title(row)}
        for topic in TOPICS.values()
        for row in matching(topic, words)
    ]
    return {"search": words, "matches": matches}


def row_text(topic: Topic, row: Any) -> str:
    """Everything that the catalogue holds of a row, with marks and sources."""
    lines = [f"{topic.id(row)}: {topic.title(row)}", ""]
    facts = [("in a manifest", f"{topic.field}: {topic.id(row)}", "")]
    if topic.aliases(row):
        facts.append(("also called", ", ".join(topic.aliases(row)), ""))
    of_row = _facts(row)
    facts += [("confirmed", _share(*confirmation(row)), ""), *of_row] if hasattr(row, "unverified") else of_row
    width = max(len(name) for name, _, _ in facts) + 2
    lines += [f"  {name:{width}}{text}{remark}" for name, text, remark in facts]
    for name, parts in _parts(row):
        lines += ["", f"  {label(name)}{_remark(row, _PLACED[name])}", textwrap.indent(parts, "    ").rstrip()]
        if f" {_MARK}" in parts:
            lines.append(f"    {_MARK} {_LEGEND}")
    if getattr(row, "note", ""):
        lines += ["", *textwrap.wrap(f"Note: {row.note}", _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    body = [[code, *sources()[code]] for code in _source_codes(row)]
    lines += ["", "  sources", textwrap.indent(table(["code", "kind", "what"], body), "    ")]
    return "\n".join(lines)


def list_json(topic: Topic) -> dict[str, Any]:
    """The rows of a topic with all their fields."""
    return {"topic": topic.name, "field": topic.field, "rows": [_plain(row) for row in topic.rows()]}


def row_json(topic: Topic, row: Any) -> dict[str, Any]:
    """One row with all its fields, and its sources spelled out."""
    spelled = [{"code": code, "kind": sources()[code][0], "what": sources()[code][1]} for code in _source_codes(row)]
    facts, confirmed = confirmation(row)
    shown = {"topic": topic.name, "field": topic.field, "facts": facts, "confirmed": confirmed}
    return {**shown, "row": _plain(row), "sources": spelled}


def table(titles: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Columns with their titles, separated by two blanks; columns without any text are left out."""
    body = list(body)
    kept = [index for index in range(len(titles)) if any(row[index] for row in body)]
    cells = [[row[index] for index in kept] for row in (titles, *body)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(kept))]
    lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
    return "\n".join(lines) + "\n"


def _facts(row: Any) -> list[tuple[str, str, str]]:
    """Label, value and remark of every field that has a value; the remark says which part no source confirmed."""
    if isinstance(row, OperatingSystem):
        return [(label(name), text, _remark(row, name)) for name, text in row.facts.items() if text]
    facts = []
    for field in fields(row):
        value = getattr(row, field)
        if field in _HEADING or field in _PLACED or value in (None, "", (), frozenset()):
            continue
        facts.append((label(field), _text(field, value), _remark(row, field)))
    return facts


def confirmation(row: Any) -> tuple[int, int]:
    """How many facts a row has, each of a GPU and port of a system too, and how many of them a source confirms."""
    marks = [not remark for _, _, remark in _facts(row)]
    for field, mark in _PLACED.items():
        for part in getattr(row, field, ()):
            for name in fields(part):
                if name not in ("unverified", "source") and getattr(part, name) not in (None, "", ()):
                    marks.append(name not in part.unverified and mark not in row.unverified)
    return len(marks), sum(marks)


def _share(facts: int, confirmed: int) -> str:
    return f"{confirmed} of {facts} facts"


def _remark(row: Any, field: str) -> str:
    if field in row.unverified:
        return "  (not confirmed)"
    parts = [label(mark) for mark in sorted(row.unverified) if mark.startswith(f"{field}.")]
    return f"  ({', '.join(parts)} not confirmed)" if parts else ""


def _parts(row: Any) -> list[tuple[str, str]]:
    """The GPUs and ports of a system as tables; `?` marks what no source confirmed."""
    tables = []
    for field in _PLACED:
        if parts := getattr(row, field, ()):
            names = [name for name in fields(parts[0]) if name not in ("unverified", "source")]
            body = [[_cell(part, name) for name in names] for part in parts]
            tables.append((field, table([label(name) for name in names], body)))
    return tables


def _cell(part: Any, field: str) -> str:
    """A fact of one GPU or port, with a mark where no source confirmed it."""
    value = getattr(part, field)
    text = "" if value is None else _text(field, value)
    return f"{text} {_MARK}" if text and field in part.unverified else text


def _text(field: str, value: Any) -> str:
    """A value with its unit, as `2048 GiB` or `yes`."""
    match value:
        case Cpu():
            return (
                f"{value.sockets} × {value.model or 'CPU'}, {value.cores_per_socket} cores per socket, "
                f"threads per core: {value.threads_per_core}, NUMA nodes per socket: {value.numa_per_socket}"
            )
        case Psu():
            spare = "" if value.redundant is None else f", {value.redundant} redundant"
            inlet = f", {value.inlet} inlets" if value.inlet else ""
            return f"{value.installed} × {value.watt} W{spare}{inlet}"
        case bool():
            return "yes" if value else "no"
    if field == "inlet_c":
        return f"{value[0]} to {value[1]} °C"
    if field.endswith("_mib"):
        return f"{value / 1024:g} GiB" if value % 1024 == 0 else f"{value} MiB"
    if isinstance(value, tuple):
        return (" | " if field == "links" else ", ").join(map(str, value))
    number = f"{value:g}" if isinstance(value, float) else str(value)
    unit = next((unit for ending, unit in _UNITS.items() if f"_{field}".endswith(ending)), "")
    return f"{number} U" if field == "rack_units" else f"{number} {unit}".rstrip()


def _source_codes(row: Any) -> list[str]:
    codes = list(row.source)
    for field in _PLACED:
        codes += [code for part in getattr(row, field, ()) for code in part.source]
    return list(dict.fromkeys(codes))


def _plain(value: Any) -> Any:
    """A record as JSON has it: mappings, lists and scalars."""
    if hasattr(value, "__record_fields__"):
        return {name: _plain(getattr(value, name)) for name in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value
