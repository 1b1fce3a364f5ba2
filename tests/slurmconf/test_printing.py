"""Printed lines are read back unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.slurmconf import line, parse, quote_value

VALUE = st.one_of(st.text(alphabet="ab/#\\= ,[]é\u2003\t", max_size=12), st.text(max_size=12)).filter(
    lambda text: not any(char == '"' or char == "\x7f" or (char < " " and char != "\t") for char in text)
)
KEY = st.from_regex(r"[A-Za-z0-9_.]{1,12}", fullmatch=True)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("compute[01-08]", "compute[01-08]"),
        ("a b", '"a b"'),
        ("", '""'),
        ("/a#b", r"/a\#b"),
        ("a \\#", r'"a \\\#"'),
        ("C:\\", "C:\\\\"),
        ("café", '"café"'),
    ],
)
def test_quoting(value: str, printed: str) -> None:
    assert quote_value(value) == printed


@pytest.mark.parametrize("value", ['say "hi"', "two\nlines", "a\rb", "a\0b", "\x1b[31m", "\x7f"])
def test_text_that_the_grammar_cannot_hold_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        quote_value(value)


@pytest.mark.parametrize("key", ["", "a b", "a=", "a#", "é", "a\n"])
def test_names_that_are_no_keys_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="cannot be a key"):
        line([(key, "x")])


@pytest.mark.slow
@given(st.lists(st.tuples(KEY, VALUE), min_size=1, max_size=5))
def test_a_printed_line_is_read_back(pairs: list[tuple[str, str]]) -> None:
    (read,) = parse(line(pairs), "f")
    assert [(pair.key, pair.value) for pair in read.pairs] == pairs
    assert [pair.operator for pair in read.pairs] == ["="] * len(pairs)
    assert not [problem for problem in read.problems if problem.kind.fatal]
