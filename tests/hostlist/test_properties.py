"""Properties of every list of host names, and of every text."""

from collections.abc import Callable
from itertools import chain
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clustergen.hostlist import HostlistError, ansible_ranges, compress, contains, count, expand, validate_for_slurm

pytestmark = pytest.mark.slow

T = TypeVar("T")
# Few letters and digits, so that neighbours, paddings and equal prefixes come up often.
NAME = st.from_regex(r"[ab.:-]{0,2}[0-9]{1,3}([ab.-]{1,2}[0-9]{0,2})?|[abz_]{1,3}", fullmatch=True)
RUN = st.builds(
    lambda head, low, size, width, tail: [f"{head}{i:0{width}d}{tail}" for i in range(low, low + size)],
    st.sampled_from(["n", "rack1n", "rack2n", "10.0.0.", "fd00::"]),
    st.integers(0, 120),
    st.integers(1, 12),
    st.integers(1, 4),
    st.sampled_from(["", "", "", "-ib", "x1"]),
)
GRID = st.builds(
    lambda racks, nodes: [f"r{rack}n{node:02d}" for rack in range(racks) for node in range(nodes)],
    st.integers(1, 4),
    st.integers(1, 12),
)
NAMES = st.lists(st.one_of(NAME.map(lambda name: [name]), RUN, GRID), max_size=6).map(
    lambda runs: list(chain.from_iterable(runs))
)
RANGE = st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(1, 3)).map(
    lambda t: f"{t[0]:0{t[2]}d}-{t[0] + t[1]:0{t[2]}d}"
)
BRACKET = st.lists(st.one_of(RANGE, st.from_regex("[0-9]{1,3}", fullmatch=True)), min_size=1, max_size=2).map(
    lambda ranges: "[" + ",".join(ranges) + "]"
)
ITEM = st.lists(st.one_of(st.sampled_from(["a", "b1", ".", "-x"]), BRACKET), min_size=1, max_size=3).map("".join)
LIST = st.lists(ITEM, min_size=1, max_size=3).map(",".join)
NOISE = st.text(alphabet="ab01[]-,:. \t\n*/é%", max_size=30)


def attempt(call: Callable[[], T]) -> tuple[T | None, HostlistError | None]:
    """The result of the call, or the one error that it may raise."""
    try:
        return call(), None
    except HostlistError as error:
        return None, error


@given(NAMES, st.booleans())
@example(["n9", "n10", "n011"], False)
@example(["a" + "9" * 17, "a1" + "0" * 17], False)
def test_fold_keeps_every_name_and_their_order(names: list[str], suffixes: bool) -> None:
    text = compress(names, suffixes=suffixes)
    assert (expand(text) if names else []) == names


@given(LIST)
def test_folding_is_canonical(text: str) -> None:
    names = expand(text)
    folded = compress(names)
    assert compress(expand(folded)) == folded
    assert count(text) == len(names) == count(folded)


@given(NAMES)
def test_sorting_keeps_every_name(names: list[str]) -> None:
    text = compress(names, sort=True)
    assert sorted(expand(text) if text else []) == sorted(names)


@given(LIST, NAME)
def test_contains_agrees_with_expand(text: str, name: str) -> None:
    names = expand(text)
    assert contains(text, name) == (name in names)
    assert contains(text, names[-1])


@given(st.one_of(NOISE, st.text(max_size=20), st.tuples(LIST, NOISE, LIST).map("".join)))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    names, error = attempt(lambda: expand(text))
    counted, _ = attempt(lambda: count(text))
    assert counted == (len(names) if names else None)
    assert bool(names) != bool(error)
    for problem in (error, attempt(lambda: validate_for_slurm(text, "22.05", "23.11"))[1]):
        if problem and text:
            assert 0 <= problem.offset < problem.offset + problem.length <= len(text)


@given(NAMES.filter(lambda names: not any(":" in name for name in names)))
def test_ansible_patterns_match_the_same_hosts(names: list[str]) -> None:
    from ansible.plugins.inventory import detect_range, expand_hostname_range

    seen: list[str] = []
    for pattern in ansible_ranges(names) if names else []:
        seen += expand_hostname_range(pattern) if detect_range(pattern) else [pattern]
    assert seen == names
