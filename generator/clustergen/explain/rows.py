"""The catalogue's rows behind a line: in which table they stand, and from which source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any, get_args, get_type_hints

from clustergen.catalogue.operating_systems import tables_of
from clustergen.catalogue.tables import DATA, cells
from clustergen.catalogue.versions import Release
from clustergen.explain.reads import field_names
from clustergen.records import record


@record
class Row:
    """One row. `table` and `line` are None for what the catalogue works out from several."""

    name: str
    table: str | None
    line: int | None
    fields: Mapping[str, str]  # those that the line depends on
    sources: tuple[tuple[str, str], ...]  # code and what it stands for


@cache
def _tables() -> dict[str, tuple[tuple[str, ...], tuple[tuple[int, tuple[str, ...]], ...]]]:
    """Table → its header, and its rows with their line numbers."""
    tables = {}
    for path in sorted(DATA.rglob("*.tsv")):
        header, _ = cells(name := path.relative_to(DATA).as_posix())
        lines = path.read_text(encoding="utf-8").split("\n")
        numbered = [(n, tuple(text.split("\t"))) for n, text in enumerate(lines, 1) if text and text[0] != "#"]
        tables[name] = tuple(header), tuple(numbered[1:])
    return tables


@cache
def _what() -> dict[str, str]:
    return {cell[0]: cell[2] for _, cell in _tables()["sources.tsv"][1]}


def row_of(row: Any, fields: set[str], owner: Any = None) -> Row:
    """A row of the catalogue as people look for it; `owner`: the row that it is a fact of."""
    table, line, codes = _place(row, fields)
    values = {name: _shown(_field(row, name)) for name in sorted(fields)}
    if table is None and not codes and owner is not None:
        row, (table, line, codes) = owner, _place(owner, set())
    sources = tuple((code, _what().get(code, "")) for code in codes)
    return Row(_name(row), table, line, values, sources)


def other_facts(row: Any, field: str, alike: Iterable[Any]) -> list[Any]:
    """Other values for a fact of a row: what a row `alike` (of the same table) has there, or one of the same type. An
    `id` only names the row.
    """
    if field == "id":
        return []
    first, _, rest = field.partition(".")
    value = _field(row, field)
    if rest:
        return [_OPPOSITE.get(value) or " ".join(f"{word}x" for word in value.split() or [""])]
    if release := _release(_hints(row.__class__).get(first)):
        return [release("0.1"), release("99.9")] if value is None else [release("99.9"), release("0.1")]
    invented: list[Any] = []
    if isinstance(value, bool):
        invented.append(not value)
    elif isinstance(value, int | float):
        invented.append(value + 1)
    elif isinstance(value, str):
        invented.append(_OPPOSITE.get(value, f"{value}x"))
    elif isinstance(value, tuple) and not field_names(value) and value:
        invented.append(value[:-1])
    listed = (getattr(other, first) for other in alike)
    return [*islice((fact for fact in listed if fact not in (value, None)), 1), *invented]


_OPPOSITE = {"yes": "no", "no": "yes"}


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _release(kind: Any) -> type[Release] | None:
    """The release type of a fact that is one, or may be one."""
    kinds = (kind, *get_args(kind))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Release)), None)


def _field(row: Any, name: str) -> Any:
    first, _, rest = name.partition(".")
    value = getattr(row, first)
    return value[rest] if rest else value


def _name(row: Any) -> str:
    parts = [getattr(row, name) for name in field_names(row)[:3]]
    texts = [part for part in parts if isinstance(part, str) and part]
    kind = type(row).__name__
    if kind == "SlurmKey":
        return " ".join(texts)
    return texts[0] if texts else kind


def _shown(value: Any) -> str:
    if isinstance(value, set | frozenset):
        value = tuple(sorted(value, key=str))
    if type(value) is tuple:
        return " ".join(map(str, value))
    return "" if value is None else str(value)


def _place(row: Any, fields: set[str]) -> tuple[str | None, int | None, tuple[str, ...]]:
    """Table, line and source codes: the table whose header has the row's fields, the line that has its texts."""
    facts = {name.partition(".")[2] for name in fields if "." in name}
    for table in tables_of(row.id) if facts else ():  # of an operating system: the fields are their rows
        for number, cell in _tables()[table][1]:
            if cell[0] in facts:
                return table, number, tuple(cell[-1].split())
    source = getattr(row, "source", "") or ()
    codes = tuple(source.split() if isinstance(source, str) else source)
    if (DATA / "systems" / f"{getattr(row, 'id', None)}.yaml").is_file():
        return f"systems/{row.id}.yaml", None, codes
    texts = {
        name: str(value)
        for name in field_names(row)
        if isinstance(value := getattr(row, name), str | int) and not isinstance(value, bool)
    }
    best: tuple[int, str, tuple[str, ...]] | None = None
    for table, (header, _) in _tables().items():
        if "/" in table:
            continue
        common = len(set(header) & set(field_names(row)))
        if common >= 2 and common * 2 >= len(field_names(row)) and (best is None or common > best[0]):
            best = common, table, header
    if best is None:
        return None, None, codes
    _, table, header = best
    stated = [(header.index(name), text) for name, text in texts.items() if name in header]
    column = header.index("source") if "source" in header else None
    alike = [
        (number, tuple(cell[column].split()) if column is not None else ())
        for number, cell in _tables()[table][1]
        if all(cell[place] == text for place, text in stated)
    ]
    if len(alike) != 1:  # rows of several products that say the same: only the table is sure
        return (table if alike else None), None, codes
    number, sources = alike[0]
    return table, number, codes or sources
