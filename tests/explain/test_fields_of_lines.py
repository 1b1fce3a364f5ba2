"""The reverse of `explain FILE:LINE`: each line that changes with a value of the manifest names that value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clustergen import compile as compiler
from clustergen.explain.facts import Facts
from clustergen.explain.fields import Field, Fields
from clustergen.explain.lines import explain
from clustergen.explain.manifests import Original
from clustergen.explain.trials import changed, lines_of
from clustergen.manifest.source import Source
from clustergen.render.tree import Tree
from strategies.inventories import ML_TRAINING, compiled, paths
from strategies.once import once

pytestmark = pytest.mark.slow

_MOST = 4  # lines of a file in `make long`; CI takes every second one


def other_words(text: str, elsewhere: list[str]) -> Iterator[str]:
    """Words that an editor might write in its place."""
    word = text.strip('"')
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


def tree_with(source: Source, field: Field, words: Iterator[str]) -> Tree | None:
    """The tree of the manifest with the first of these words that makes a valid one."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / ML_TRAINING.name
        for word in words:
            path.write_text(edited(source, field, word), encoding="utf-8")
            result = compiler.validate(path)
            if result.ok and (tree := compiler.render(result, path)[0]) is not None:
                return tree
    return None


Trees = Mapping[str, Tree]


@pytest.fixture(scope="session")
def trees(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Trees:
    """Name of a field that the manifest states → the tree with another value of it; in CI, of every eighth field."""
    step = 1 if request.config.getoption("markexpr").lstrip("(").startswith("long") else 8
    return once(tmp_path_factory, "trees", lambda: trees_by_field(step))


def trees_by_field(step: int) -> Trees:
    source = compiled("ml-training")[0].source
    values = [
        field for field in Fields(Original(source.data)).all if field.kind == "value" and source.text_of(field.path)
    ]
    made = {}
    for field in values[::step]:
        alike = [other for other in values if other.origin.owner[1] == field.origin.owner[1]]
        elsewhere = [(source.text_of(other.path) or "").strip('"') for other in alike]
        if tree := tree_with(source, field, other_words(source.text_of(field.path) or "", elsewhere)):
            made[field.name] = tree
    return made


def fields_of(path: str, trees: Trees, step: int = 2) -> dict[int, set[str]]:
    """Index of a line of a file → the fields with which it changes; of one line of `step` that `make long` takes."""
    lines: dict[int, set[str]] = {}
    file = compiled("ml-training")[1].files[path]
    for name, tree in trees.items():
        if (after := tree.files.get(path)) and after.content != file.content:
            for index, _ in changed(lines_of(file.content), lines_of(after.content)):
                lines.setdefault(index, set()).add(name)
    texts = lines_of(file.content)
    full = sorted(index for index in lines if texts[index].strip())  # a comparison places blank lines at will
    return {index: lines[index] for index in full[:: len(full) // _MOST + 1][::step]}


PATHS = paths("ml-training")
CASES = [(path, 2) for path in PATHS[::8]]
MORE = [
    pytest.param(path, step, marks=pytest.mark.long) for path in PATHS for step in (1, 2) if (path, step) not in CASES
]


@pytest.mark.many
@pytest.mark.parametrize(("path", "step"), [*CASES, *MORE])
def test_every_value_is_named_by_the_lines_that_change_with_it(
    trees: Trees, path: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows of the catalogue, half of the trials, are what test_lines and test_search are about.
    monkeypatch.setattr(Facts, "behind", lambda *_, **__: {})
    fields = fields_of(path, trees, step)
    if not fields:
        return
    result, tree = compiled("ml-training")
    explained = explain(result, tree, tree.files[path], ML_TRAINING.parent, [index + 1 for index in fields])
    assert [line.number - 1 for line in explained.lines] == sorted(fields)
    for line in explained.lines:
        names = {cause.path for cause in (*line.manifest, *explained.needs)}
        assert fields[line.number - 1] - names == set(), line.text


def test_enough_values_are_edited(trees: Trees) -> None:
    assert len(trees) > 20
    assert sum(len(fields_of(path, trees)) for path in paths("ml-training")) > 50
