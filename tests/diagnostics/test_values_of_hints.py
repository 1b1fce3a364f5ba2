"""Hints that rewrite the user's YAML keep every value: what is pasted back has all that stood there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from clustergen.diagnostics.conversions import conversion_hint
from clustergen.diagnostics.shapes import as_mapping, as_one, as_pairs, list_as_mapping, list_hint
from clustergen.explain.about import field_names
from clustergen.manifest.base import Section
from strategies.findings import TINY, diagnosed

VALUES: list[Any] = [
    {"aa1": {"cc3": "bb2"}},
    {"aa1": "bb2", "cc3": "dd4"},
    {"aa1": 11, "bb2": 12},
    {"name": "aa1", "type": "bb2"},
    {"mlx5_0": "bb2", "mlx5_1": "ndr"},
    {"aa1": ["bb2", "cc3"]},
    [{"name": "aa1", "cc3": "bb2"}],
    [{"aa1": 11}, {"bb2": 12}],
    [["aa1", "bb2"]],
    ["aa1=11", "bb2=12"],
    "aa1=11, bb2=12",
    "aa1: bb2",
    "aa1 bb2",
]


def sections(kind: type[Section] = Section) -> Iterator[type[Section]]:
    for model in kind.__subclasses__():
        yield model
        yield from sections(model)


@cache
def fields() -> list[Any]:
    """A field of each type of the manifest."""
    assert field_names()
    every = [field for model in sections() for field in model.model_fields.values()]
    return list({str((field.annotation, field.metadata)): field for field in every}.values())


def words(value: Any) -> list[str]:
    """The scalars of a value, as words: those of keys, too, where these are in a text."""
    if isinstance(value, dict | list):
        return [word for part in (value.values() if isinstance(value, dict) else value) for word in words(part)]
    return re.findall("[a-z0-9]+", str(value))


@pytest.mark.many
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_of_another_shape_is_kept(value: Any) -> None:
    for field in fields():
        hints = [conversion_hint(value, field)]
        if isinstance(value, list):
            hints += [list_as_mapping(value, field), as_one(value, field)]
        elif isinstance(value, str):
            hints += [as_mapping(value, field), list_hint(value, value, field), as_pairs(value, field)]
        for hint in filter(None, hints):
            is_description = hint.startswith("write a list")  # in words
            is_of_several = "unknown, and gres_type" in hint or "{model: unknown, gres_type" in hint
            lost = [] if is_description or is_of_several else [word for word in words(value) if word not in hint]
            assert lost == [], (hint, field)


@pytest.mark.parametrize(
    ("text", "line", "data"),
    [
        ("nccl: {env: {a: b: c}}", 'nccl: {env: {a: "b: c"}}', {"env": {"a": "b: c"}}),
        ("nccl: {env: {a: b: c, d: e}} # f", 'nccl: {env: {a: "b: c", d: e}}', {"env": {"a": "b: c", "d": "e"}}),
        ("nccl: {env: {a: b c: d}}", "nccl: {env: {a: b, c: d}}", {"env": {"a": "b", "c": "d"}}),
        ("nccl: {env: {a: b; c: d}}", "nccl: {env: {a: b, c: d}}", {"env": {"a": "b", "c": "d"}}),
    ],
)
def test_a_line_that_is_no_yaml_keeps_its_values(text: str, line: str, data: Any) -> None:
    (item,) = diagnosed(f"{TINY}{text}\n")
    assert item.hint == f"write {line}"
    assert yaml.safe_load(line) == {"nccl": data}
