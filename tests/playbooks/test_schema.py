"""A node's answer is accepted if it fits the schema, and otherwise rejected with the path of the mismatch."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import (
    AnswerError,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    OrNone,
    Record,
    Text,
    Words,
)
from strategies.played_nodes import GOOD, ROOT

REFUSED: dict[str, tuple[Any, Any, str]] = {
    "truth is no number": (Number(), True, "x is not a number"),
    "a number of digits is text": (Number(), "1", "x is not a number"),
    "no number": (Number(), float("nan"), "x is not between 0 and"),
    "less than the least": (Number(1, 3), 0, "x is not between 1 and 3"),
    "more than the most": (Number(1, 3), 3.5, "x is not between 1 and 3"),
    "a number is no truth": (Flag(), 1, "x is neither true nor false"),
    "a long text": (Text(3), "abcd", "x has 4 characters, more than 3"),
    "a text with a control character": (Text(3), "a\x1b", "x has invalid characters"),
    "a text that the pattern does not match": (Text(3, "[a-z]*"), "aB", "x has invalid characters"),
    "bytes": (Words(3), b"ab", "x is not text"),
    "another name": (OneOf(["a"]), "b", "x was not part of the query"),
    "a name that cannot be compared": (OneOf(["a"]), ["a"], "x was not part of the query"),
    "something for nothing": (OrNone(Flag()), "", "x is neither true nor false"),
    "a mapping for a list": (ListOf(Flag(), 2), {}, "x is not a list"),
    "a long list": (ListOf(Flag(), 1), [True, True], "x has 2 items, more than 1"),
    "an item": (ListOf(Flag(), 2), [True, 0], "x[1] is neither true nor false"),
    "a list for a mapping": (MapOf(Text(3), Flag(), 1), [], "x is not a mapping"),
    "a large mapping": (MapOf(Text(3), Flag(), 1), {"a": True, "b": True}, "x has 2 items, more than 1"),
    "a key": (MapOf(Text(1), Flag(), 1), {"ab": True}, "a key of x has 2 characters, more than 1"),
    "a value": (MapOf(Text(1), Flag(), 1), {"a": 1}, "a value of x is neither true nor false"),
    "an absent key": (Record({"a": Flag()}), {"b": True}, "x lacks a"),
    "a field": (Record({"a": Flag()}), {"a": 1}, "x.a is neither true nor false"),
    "an optional field": (Record(optional={"a": Flag()}), {"a": 1}, "x.a is neither true nor false"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_values_that_do_not_fit_are_refused_by_their_path(case: str) -> None:
    schema, value, message = REFUSED[case]
    with pytest.raises(AnswerError) as refused:
        schema.check(value, "x")
    assert str(refused.value).startswith(message)


def test_undescribed_fields_are_dropped() -> None:
    schema = Record({"names": ListOf(Words(4), 2)}, {"at": OrNone(Number(0, 1))})
    answer = {"names": ["a", "\x1bbcdef"], "at": 1, "more": "x"}
    assert schema.check(answer, "x") == {"names": ["a", "\x1bbcd…"], "at": 1}
    assert schema.check({"names": [], "at": None}, "x") == {"names": [], "at": None}


def test_nodes_that_the_benchmarks_pretend_answer_as_others_do() -> None:
    stub = runpy.run_path(str(ROOT / "benchmarks/stub/stub.py"))
    assert stub["_answer"]("c1", b"node_state").keys() == GOOD.keys()
