"""Explanations as text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.words import cut, listed
from clustergen.explain.about import About, Reach
from clustergen.explain.causes import Cause
from clustergen.explain.keys import keys_of
from clustergen.explain.lines import Explained, Line
from clustergen.explain.rows import Row
from clustergen.render.yaml_flow import flow

_SHOWN = 8
_NOT_SET = "not set; clustergen resolve prints what holds then"
_MOST_FILES = 24  # that fit on a screen, each on a line


def text_of_lines(explained: Explained, *, whole: bool) -> str:
    """A paragraph for each line; of a `whole` file a row for each line, with the values closest to it."""
    if whole:
        return heading(explained.path, explained.target) + summaries(explained.lines) + origin(explained)
    paragraphs = ("\n".join(["", *_line(line), ""]) for line in explained.lines)
    return heading(explained.path, explained.target) + "".join(paragraphs) + origin(explained)


def heading(path: str, target: str | None) -> str:
    """The file, with its place on the nodes."""
    return path + (f", on the nodes {target}" if target else "") + "\n"


def summaries(lines: Iterable[Line]) -> str:
    """A row for each line that is not empty, with the values closest to it."""
    return "".join(_summary(line) + "\n" for line in lines if line.text.strip())


def origin(explained: Explained) -> str:
    """The template and the function of a file, and the values without which it does not exist."""
    made_by = [explained.source] if explained.source else []
    if explained.rule is None:
        made_by = [f"{explained.source}, a file of the site"]
    else:
        made_by += [explained.rule + (f": {explained.rule_says}" if explained.rule_says else "")]
    out = ["", "made by " + " from ".join(made_by)]
    if explained.needs:
        out.append("the file exists, under this name, because of")
        out += [f"  {_where(cause)}" for cause in explained.needs]
    return "\n".join(out) + "\n"


def _summary(line: Line) -> str:
    closest = [_where(cause, short=True) for cause in line.manifest[:3]]
    closest += [f"{cause.path} (not set)" for cause in line.defaults[: 3 - len(closest)]]
    if not closest:
        closest = [_table(row) for row in line.catalogue[:2]] or [line.template or _NOTHING]
    return f"{line.number:>5}  {cut(line.text.strip(), 56):<56}  {', '.join(closest)}"


_NOTHING = "no manifest value"


def _line(line: Line) -> Iterator[str]:
    yield f"line {line.number}: {line.text.strip() or '(empty)'}"
    if line.why:
        yield f"  why: {line.why}"
    if line.manifest:
        yield "  values of the manifest:"
        for cause in line.manifest[:_SHOWN]:
            yield f"    {_where(cause)}" + (f": {cause.text}" if cause.text else "")
            if cause.help:
                yield f"        {cause.help}"
            yield f"        {_trial(cause, line)}"
        yield from _more(line.manifest)
    if line.defaults:
        yield "  not set in the manifest:"
        for cause in line.defaults[:_SHOWN]:
            default = "" if cause.default in (None, [], {}, "") else f" (now {flow(cause.default)})"
            yield f"    {cause.path}{default}: {cause.help}"
        yield from _more(line.defaults)
    if line.catalogue:
        yield "  rows of the catalogue:"
        yield from _rows(line.catalogue)
        for code, what in dict.fromkeys(source for row in line.catalogue for source in row.sources):
            yield f"    [{code}] {what}"
    if line.constant and line.text.strip():
        yield f"  {_NOTHING} changes it"
    if line.template:
        yield f"  text of {line.template}"


def _rows(rows: Sequence[Row]) -> Iterator[str]:
    """Rows with the values that the line depends on; of a table whose rows only have to exist, one line for all."""
    bare: dict[str, list[Row]] = {}
    shown = []
    for row in rows:
        facts = ", ".join(f"{name} {value}" for name, value in row.fields.items() if value)
        codes = " ".join(code for code, _ in row.sources)
        source = f" [{codes}]" if codes else ""
        if facts or row.table is None:
            shown.append(f"    {_table(row)}: {row.name}" + (f": {facts}" if facts else "") + source)
        else:
            bare.setdefault(row.table, []).append(row)
    yield from shown[:_SHOWN]
    yield from _more(shown)
    for table, alike in bare.items():
        place = _table(alike[0]) if len(alike) == 1 else f"catalogue/data/{table}"
        codes = " ".join(dict.fromkeys(code for row in alike for code, _ in row.sources))
        yield f"    {place}: {_alike([row.name for row in alike])}" + (f" [{codes}]" if codes else "")


def _alike(names: Sequence[str]) -> str:
    """`slurm.conf PartitionName Nodes, Default, State`: the words that all share are said once."""
    words = [name.split(" ") for name in names]
    common = 0
    while all(len(one) > common + 1 and one[: common + 1] == words[0][: common + 1] for one in words):
        common += 1
    return " ".join([*words[0][:common], ", ".join(" ".join(one[common:]) for one in words)])


def _trial(cause: Cause, line: Line) -> str:
    what = {"nothing": "without it", "another name": "under another name"}.get(cause.tried, f"with {cause.tried}")
    if not cause.valid:
        what += " (invalid by itself)"
    if cause.becomes is None:
        return f"{what}: no such line"
    return f"{what}: {cut(_difference(line.text, cause.becomes), 150)}"


def _difference(old: str, new: str) -> str:
    """The new line; of a long one, the words that are others."""
    if len(new.strip()) <= 100:
        return new.strip()
    before, after = old.split(), new.split()
    others = " ".join(word for word in after if word not in before)
    return f"… {others}" if others else f"no {' '.join(word for word in before if word not in after)}"


def _where(cause: Cause, *, short: bool = False) -> str:
    place = cause.place
    if place is None:
        return cause.path
    if short:
        return f"{place.file.rpartition('/')[2]}:{place.line} {cause.path}"
    return f"{place.file}:{place.line}:{place.column} {cause.path}"


def _table(row: Row) -> str:
    if row.table is None:
        return "catalogue"
    return f"catalogue/data/{row.table}" + (f":{row.line}" if row.line else "")


def _more(causes: Sequence[object]) -> Iterator[str]:
    if len(causes) > _SHOWN:
        yield f"    … and {len(causes) - _SHOWN} more: --format json has all"


def json_of_lines(explained: Explained) -> str:
    return json_document(
        {
            "file": explained.path,
            "target": explained.target,
            "source": explained.source,
            "rule": explained.rule,
            "rule_says": explained.rule_says or None,
            "needs": [_cause(cause) for cause in explained.needs],
            "lines": [
                {
                    "line": line.number,
                    "text": line.text,
                    "why": line.why or None,
                    "template": line.template,
                    "manifest": [_cause(cause) for cause in line.manifest],
                    "defaults": [_cause(cause) for cause in line.defaults],
                    "catalogue": [
                        {
                            "row": row.name,
                            "table": row.table,
                            "line": row.line,
                            "fields": dict(row.fields),
                            "sources": dict(row.sources),
                        }
                        for row in line.catalogue
                    ],
                }
                for line in explained.lines
            ],
        }
    )


def _cause(cause: Cause) -> dict[str, Any]:
    place = cause.place
    return {
        "path": cause.path,
        "kind": cause.kind,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "end_column": place.end_column if place else None,
        "written": cause.text,
        "default": cause.default,
        "help": cause.help,
        "trial": {"value": cause.tried, "becomes": cause.becomes, "valid": cause.valid},
    }


def text_of_field(described: About, reached: Reach) -> str:
    out = [".".join(described.steps), f"  {described.help}", f"  form: {' or '.join(described.forms)}"]
    out += [f"  unit: {unit}" for unit in described.units]
    out += [f"  sets: {key}" for key in keys_of(described.steps)]
    if described.required:
        out.append("  required")
    elif not described.fields:
        default = flow(described.default)
        out.append(f"  default: {_NOT_SET if default in ('null', '[]', '{}') else default}")
    if described.fields:
        out += ["  holds:", *(f"    {field}" for field in described.fields)]
    if reached.stated:
        out.append(f"  in {reached.manifest}: {listed(reached.stated, _SHOWN)}")
    else:
        out.append(f"  not set in {reached.manifest}")
    if reached.files:
        out += [f"  files that change with it, in {reached.manifest}:", *_paths(reached.files)]
    if reached.added:
        out += ["  files that it can add:", *_paths(reached.added)]
    if len(reached.files) > _MOST_FILES and described.fields:
        field = f"{'.'.join(described.steps)}.{described.fields[0].partition(':')[0]}"
        out.append(f"  fewer files: explain one field of it, as {field}; --format json lists all")
    if not reached.files and not reached.added:
        out.append(f"  no file of {reached.manifest} changes with it")
    return "\n".join(out) + "\n"


def _paths(files: Sequence[str]) -> Iterator[str]:
    """The files; of many, those of a group of nodes as one row with their number and the first names."""
    if len(files) <= _MOST_FILES:
        yield from (f"    {path}" for path in files)
        return
    groups: dict[str, list[str]] = {}
    for path in files:
        steps = path.split("/")
        groups.setdefault("/".join(steps[:2]) if steps[0] == "overlays" else "", []).append(path)
    for group, paths in groups.items():
        if not group or len(paths) == 1:
            yield from (f"    {path}" for path in paths)
            continue
        names = list(dict.fromkeys(path.rpartition("/")[2] for path in paths))
        yield f"    {group}/: {len(paths)} files: {', '.join(names[:4])}{', …' if names[4:] else ''}"


def json_of_field(field: About, reached: Reach) -> str:
    return json_document(
        {
            "field": ".".join(field.steps),
            "help": field.help,
            "forms": field.forms,
            "units": field.units,
            "keys": keys_of(field.steps),
            "required": field.required,
            "default": field.default,
            "fields": field.fields,
            "manifest": reached.manifest,
            "stated": reached.stated,
            "files": reached.files,
            "files_added": reached.added,
        }
    )
