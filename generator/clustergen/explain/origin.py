"""Origins of the values of a resolved cluster: what `explain` does for the lines of a file, for those of the model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from clustergen.cluster.document import plain_section, sections
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.compile import Compiled
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.words import listed
from clustergen.explain.causes import Cause
from clustergen.explain.rows import Row
from clustergen.explain.study import Study
from clustergen.explain.trials import Renderer, lines_of
from clustergen.records import record
from clustergen.render.formats import yaml_scalar
from clustergen.render.tree import RenderedFile

_PATH = "model"
_SHOWN = 3
_scalar = lru_cache(10_000, typed=True)(yaml_scalar)  # trials print the same values thousands of times
Origin = Literal["written", "derived", "catalogue", "default", "fixed"]
"""Written as it is; worked out from what is written; a fact of the catalogue; a default; the same in every cluster."""


@record
class Value:
    """A value of the model and what it depends on. `text` is the value in YAML."""

    path: str
    text: str
    origin: Origin
    stated: tuple[Cause, ...]
    defaults: tuple[Cause, ...]
    catalogue: tuple[Row, ...]


def origins(compiled: Compiled, section: str | None = None) -> list[Value]:
    """The values of a valid manifest's model, or of one section, in order."""
    assert compiled.cluster is not None

    def make(cluster: Cluster) -> Mapping[str, RenderedFile]:
        kinds = {name: kind for name, kind in sections(cluster).items() if section in (None, name)}
        text = "".join(_text_of(cluster, name, kind) for name, kind in kinds.items())
        return {_PATH: RenderedFile(_PATH, text.encode())} if kinds else {}  # a trial may have removed the section

    file = make(compiled.cluster)[_PATH]
    lines = lines_of(file.content)
    study = Study(compiled, Renderer(make, file), lines, range(len(lines)), stated=False)
    return [_value(line, *study.causes_of(index), study.rows_of(index)) for index, line in enumerate(lines)]


@once_per_cluster
def _text_of(cluster: Cluster, name: str, kind: type) -> str:
    """The lines of a section. Most trials leave most sections as they are."""
    return "".join(f"{path}: {value}\n" for path, value in flat(plain_section(cluster, name, kind), name))


def flat(value: object, path: str) -> list[tuple[str, str]]:
    """Path and text of each value in YAML; a list of simple values is one."""
    lines: list[tuple[str, str]] = []
    _flatten(value, path, lines)
    return lines


def _flatten(value: object, path: str, lines: list[tuple[str, str]]) -> None:
    if type(value) is dict and value:
        for key, item in value.items():
            _flatten(item, f"{path}.{key}" if path else key, lines)
    elif type(value) is list:
        if any(type(item) in (dict, list) for item in value):
            for index, item in enumerate(value):
                _flatten(item, f"{path}[{index}]", lines)
        else:
            lines.append((path, f"[{', '.join(map(_scalar, value))}]"))
    else:
        lines.append((path, "{}" if value == {} else _scalar(value)))


def _value(line: str, stated: tuple[Cause, ...], defaults: tuple[Cause, ...], catalogue: tuple[Row, ...]) -> Value:
    path, _, text = line.partition(": ")
    # What removes the value with its whole entry has a say in it only where nothing else has.
    if any(_replaces(cause, path) for cause in (*stated, *defaults)):
        stated = tuple(cause for cause in stated if _replaces(cause, path))
        defaults = tuple(cause for cause in defaults if _replaces(cause, path))
    verbatim = [cause for cause in stated if _is_verbatim(cause, text)][:1] or _list_of(stated, text)
    origin: Origin = "fixed"
    if verbatim and not catalogue:
        origin, stated = "written", tuple(verbatim)
    elif stated:
        origin = "catalogue" if catalogue else "derived"
    elif catalogue:
        origin = "catalogue"
    elif defaults:
        origin = "default"
    return Value(path=path, text=text, origin=origin, stated=stated, defaults=defaults, catalogue=catalogue)


def _is_verbatim(cause: Cause, text: str) -> bool:
    if cause.kind == "key":
        return cause.path.rpartition(".")[2] == text
    return cause.kind == "value" and bool(cause.text) and _same(cause.text or "", text)


def _list_of(stated: tuple[Cause, ...], text: str) -> list[Cause]:
    """The items of one list of the manifest, where they are those of the text."""
    items = [cause for cause in stated if cause.kind == "value" and cause.path.endswith("]")]
    texts = [(cause.text or "").strip("'\"") for cause in items]
    is_one = len({cause.path.rpartition("[")[0] for cause in items}) == 1
    return items if is_one and texts == _items(text) else []


def _items(text: str) -> list[str]:
    import yaml

    return [str(item) for item in yaml.safe_load(text)] if text.startswith("[") else []


def _replaces(cause: Cause, path: str) -> bool:
    """True if the trial showed another value in this one's place."""
    return cause.becomes is not None and cause.becomes.startswith((f"{path}: ", f"{path}.", f"{path}["))


def _same(stated: str, text: str) -> bool:
    try:
        return float(stated) == float(text)
    except ValueError:
        return stated.strip("'\"") == text.strip("'\"")


def text_of_origins(values: list[Value]) -> str:
    """A line for each value: its path, the value, and behind `#` its origin."""
    return "".join(f"{value.path}: {value.text}  # {_phrase(value)}\n" for value in values)


def _phrase(value: Value) -> str:
    if value.origin == "fixed":
        return "fixed"
    causes = value.stated[:1] if value.origin == "written" else (*value.stated, *value.defaults)
    places = list(dict.fromkeys(map(_place, causes)))
    if value.origin == "catalogue":
        sources = [(row.name, " ".join(code for code, _ in row.sources)) for row in value.catalogue]
        rows = dict.fromkeys(f"{name} [{codes}]" if codes else name for name, codes in sources)
        places = [*rows, *places]
    words = {"written": "written in", "derived": "derived from", "catalogue": "catalogue", "default": "default of"}
    return f"{words[value.origin]} {listed(places, _SHOWN)}"


def _place(cause: Cause) -> str:
    return f"{cause.place.file.rpartition('/')[2]}:{cause.place.line} {cause.path}" if cause.place else cause.path


def json_of_origins(values: list[Value]) -> str:
    """The same as JSON, with all causes."""
    return json_document({"values": [_row(value) for value in values]})


def _row(value: Value) -> dict[str, Any]:
    return {
        "path": value.path,
        "value": value.text,
        "origin": value.origin,
        "manifest": [
            {"path": cause.path, "file": cause.place.file, "line": cause.place.line}
            for cause in value.stated
            if cause.place
        ],
        "defaults": [cause.path for cause in value.defaults],
        "catalogue": [
            {"row": row.name, "table": row.table, "sources": [code for code, _ in row.sources]}
            for row in value.catalogue
        ],
    }
