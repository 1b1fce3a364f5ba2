"""Host lists that stand for millions of names: refused before anything is expanded, and cheap up to the bound."""

from __future__ import annotations

import re
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.hostlist import compress, expand, natural_key
from strategies.findings import TINY, changed, findings


def partitions(*nodes: str, more: str = "") -> str:
    """The small cluster with a partition for each host list."""
    specs = ", ".join(f'p{index}: {{nodes: "{text}"}}' for index, text in enumerate(nodes))
    return changed(TINY, ('{version: "24.11"}', f'{{version: "24.11", {more}partitions: {{{specs}}}}}'))


def nodes(entry: str) -> str:
    """The small cluster with forty more entries of `nodes`, each with its number in the place of N."""
    entries = "".join(f"  - {entry.replace('N', str(index))}\n" for index in range(40))
    return changed(TINY, ("  - {name: head", f"{entries}  - {{name: head"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (partitions(*(f"a{index}-[1-60000]" for index in range(300))), '"a34-[1-60000]"'),
        (partitions(*(f"s,a{index}" for index in range(40)), more='node_sets: {s: "a[1-60000]"}, '), '"s,a33"'),
        (nodes('{name: "xN-[1-60000]", type: service}'), '"x34-[1-60000]"'),
        (nodes('{name: xN, type: service, addresses: {bmc: "a[1-60000]"}}'), '"a[1-60000]"'),
        (nodes('{name: xN, type: service, addresses: {storage: "a[1-60000]"}}'), '"a[1-60000]"'),
        (nodes('{name: xN, type: service, addresses: {fabric: ["a[1-60000]"]}}'), '"a[1-60000]"'),
    ],
    ids=["partitions", "node sets", "nodes", "BMCs", "storage", "rails"],
)
def test_too_many_names_are_refused_at_the_list_that_exceeds(text: str, place: str) -> None:
    assert findings(text) == [("file-too-large", place)]


@pytest.mark.slow
def test_as_many_partitions_as_slurm_manages_nodes_are_resolved() -> None:
    codes = {code for code, _ in findings(partitions(*["gpu[1-60000]"] * 30))}
    assert "file-too-large" not in codes


def reference_key(name: str) -> tuple[list[tuple[str, int, str]], str]:
    """Natural order, part by part: text, then the number by its length and digits."""
    parts = [*re.split("([0-9]+)", name), ""]
    numbers = [number.lstrip("0") for number in parts[1::2]]
    return [(text, len(number), number) for text, number in zip(parts[::2], numbers, strict=True)], name


NAMES = st.lists(st.from_regex(r"[ab]{0,1}[0-9]{1,3}(-[a-z0-9]{0,2})?|[ab]{1,2}-?[0-9]{0,2}", fullmatch=True))


@pytest.mark.slow
@given(NAMES)
def test_names_are_sorted_by_text_and_number(names: list[str]) -> None:
    assert sorted(names, key=natural_key) == sorted(names, key=reference_key)


@pytest.mark.slow
@given(NAMES)
def test_a_sorted_list_is_in_natural_order(names: list[str]) -> None:
    text = compress(names, sort=True, suffixes=True)
    assert (expand(text) if text else []) == sorted(names, key=reference_key)


def calls(names: list[str]) -> int:
    """How many functions `compress` calls."""
    count = 0

    def counted(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        compress(names, sort=True)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a[1-4000]", "a[1-1999,2001-4000]", "a[1-2000],b[1-2000],c"])
def test_names_in_order_are_not_sorted(text: str) -> None:
    assert calls(expand(text)) < 400
    assert calls(expand(text)[::-1]) > 4000
