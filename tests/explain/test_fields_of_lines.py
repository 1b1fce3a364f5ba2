"""The other way round: a value that is edited in the manifest's text is named by all lines that then are others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.explain.fields import Field, Fields
from clustergen.explain.lines import explain
from clustergen.explain.manifests import Original
from clustergen.explain.trials import changed, lines_of
from clustergen.manifest.source import Source
from clustergen.render.tree import Tree
from strategies.pages import ROOT

MANIFEST = ROOT / "inventories" / "ml-training" / "manifest.yaml"
_MOST = 8  # lines of a file


def other_words(written: str, elsewhere: list[str]) -> Iterator[str]:
    """What an editor might write in its place."""
    word = written.strip('"')
    if word in ("true", "false"):
        yield "false" if word == "true" else "true"
    elif digits := re.search(r"\d+(?=\D*$)", word):
        for step in (1, 10):
            number = str(int(digits[0]) + step).zfill(len(digits[0]))
            yield word[: digits.start()] + number + word[digits.end() :]
    else:
        yield f"{word}z"
    yield from (other for other in elsewhere if other != word)


def edited(source: Source, field: Field, word: str) -> str:
    place = source.place(field.path)
    lines = source.text.split("\n")
    line = lines[place.line - 1]
    plain = re.fullmatch(r"[\w./:-]+", word) and line[place.column - 1] != '"'
    value = word if plain else f'"{word}"'
    lines[place.line - 1] = line[: place.column - 1] + value + line[place.end_column - 1 :]
    return "\n".join(lines)


def compiled_tree(path: Path) -> tuple[compiler.Compiled, Tree] | None:
    compiled = compiler.validate(path)
    tree = compiler.render(compiled, path)[0] if compiled.ok else None
    return (compiled, tree) if tree is not None else None


@pytest.mark.slow
def test_every_value_is_named_by_the_lines_that_change_with_it(tmp_path: Path) -> None:
    made = compiled_tree(MANIFEST)
    assert made is not None
    compiled, tree = made
    source = compiled.source
    values = [
        field for field in Fields(Original(source.data)).found if field.kind == "value" and source.written(field.path)
    ]
    found: dict[str, dict[int, set[str]]] = {}  # file → line → fields
    edits = 0
    for field in values:
        alike = [other for other in values if other.origin.owner[1] == field.origin.owner[1]]
        elsewhere = [(source.written(other.path) or "").strip('"') for other in alike]
        for word in other_words(source.written(field.path) or "", elsewhere):
            path = tmp_path / MANIFEST.name
            path.write_text(edited(source, field, word), encoding="utf-8")
            if (new := compiled_tree(path)) is None:
                continue
            edits += 1
            for file in tree:
                if (after := new[1].files.get(file.path)) and after.content != file.content:
                    lines = found.setdefault(file.path, {})
                    for index, _ in changed(lines_of(file.content), lines_of(after.content)):
                        lines.setdefault(index, set()).add(field.name)
            break
    assert edits > 60
    wrong, pairs = [], 0
    for path_in_tree, lines in sorted(found.items()):
        few = sorted(lines)[:: len(lines) // _MOST + 1]
        told = explain(compiled, tree, tree.files[path_in_tree], MANIFEST.parent, [index + 1 for index in few])
        for line in told.lines:
            names = {cause.path for cause in (*line.manifest, *told.needs)}
            pairs += len(lines[line.number - 1])
            wrong += [f"{path_in_tree}:{line.number} {name}" for name in lines[line.number - 1] - names]
    assert pairs > 150
    assert wrong == []
