"""How Slurm's grammar parses a text, with the place of every value, and diagnostics for the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.slurmconf import Line, ProblemKind, decode, parse

TABLES = {
    "": ["ClusterName", "SlurmctldPort", "Prolog", "NodeName", "PartitionName"],
    "NodeName": ["CPUs", "Gres", "State", "Reason", "NodeAddr"],
    "PartitionName": ["Nodes", "Default"],
}


def only(text: str) -> Line:
    (line,) = parse(text, "slurm.conf", key_tables=TABLES)
    return line


def pairs(text: str) -> list[tuple[str, str]]:
    return [(pair.key, pair.value) for line in parse(text, "f") for pair in line.pairs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=b", [("A", "b")]),
        ("  A \t= b\n", [("A", "b")]),
        ("a.b_1=/x,y=z", [("a.b_1", "/x,y=z")]),
        ('A="b c" D=e', [("A", "b c"), ("D", "e")]),
        ('A=""', [("A", "")]),
        ("A==b", [("A", "=b")]),
        ("# A=b\n\n \t\nC=d # e", [("C", "d")]),
        (r"A=b\#c", [("A", "b#c")]),
        (r"A=b\\#c", [("A", "b\\")]),
        (r"A=b\c\\d", [("A", r"bc\d")]),
        (r"A=\"b c\"", [("A", "b c")]),
        ("A=b\\\nc D=e\\ \t\n f=g", [("A", "bc"), ("D", "e"), ("f", "g")]),
        ('A="b \\\nc"', [("A", "b c")]),
        ("A=b \\ # comment\nC=d", [("A", "b"), ("C", "d")]),
        ("A=b # comment \\\nC=d", [("A", "b"), ("C", "d")]),
        ("A=b\r\nC=d\r\n", [("A", "b"), ("C", "d")]),
        ("A=b\rC=d", [("A", "b"), ("C", "d")]),
        ("A=b\0C=d\nE=f", [("A", "b"), ("E", "f")]),
        ("A=caf\u00e9\u2003x", [("A", "caf\u00e9\u2003x")]),
        ("Include=x", [("Include", "x")]),
        ("A=b\\", [("A", "b")]),
    ],
)
def test_pairs(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


def test_operators() -> None:
    (line,) = parse("A=1 B+=2 C-=3 D*=4 E /= 5", "f")
    assert [(pair.key, pair.operator, pair.value) for pair in line.pairs] == [
        ("A", "=", "1"),
        ("B", "+=", "2"),
        ("C", "-=", "3"),
        ("D", "*=", "4"),
        ("E", "/=", "5"),
    ]


def test_keys_are_found_whatever_their_case_and_the_last_one_counts() -> None:
    line = only("NODENAME=n[1-2] cpus=4 CPUs=8 State=DOWN")
    assert line.key == "nodename"
    assert (line.get("CPUS"), line.get("state"), line.get("gres")) == ("8", "DOWN", None)
    assert not line.problems


def test_places() -> None:
    text = '# head\n  NodeName = n1\tReason="a b"  # why\n\nProlog=/a\\\n/b\\#c\n'
    node, prolog = parse(text, "slurm.conf")
    name, reason = node.pairs
    assert (node.file, node.number, prolog.number) == ("slurm.conf", 2, 4)
    assert (name.key_at, name.value_at) == ((2, 3, 11), (2, 14, 16))
    assert (reason.key_at, reason.value_at) == ((2, 17, 23), (2, 25, 28))
    assert prolog.pairs[0].value == "/a/b#c"
    assert prolog.pairs[0].value_at == (4, 8, 10)


def test_places_behind_a_continuation() -> None:
    (line,) = parse("NodeName=n1 \\\n   CPUs=4\\#x State=UP\n", "f")
    assert line.pairs[1].key_at == (2, 4, 8)
    assert line.pairs[1].value_at == (2, 9, 13)
    assert line.pairs[2].key_at == (2, 14, 19)


@pytest.mark.parametrize(
    ("text", "kind", "at", "message", "hint"),
    [
        ("Foo=1", "key-unknown", (1, 1, 4), "'Foo' is not a key", None),
        ("NodeName=n1 Nodes=2", "key-unknown", (1, 13, 18), "'Nodes' is not a key of a NodeName line", None),
        ("slurmctld", "not-a-pair", (1, 1, 10), "'slurmctld' is not Key=Value", None),
        ("\ufeffProlog=/x", "not-a-pair", (1, 1, 2), "byte order mark", "without one"),
        ("Prolog=", "value-missing", (1, 1, 8), "Prolog has no value", 'Prolog=""'),
        ("NodeName=n1 Gres= ", "value-missing", (1, 13, 18), "Gres has no value", 'Gres=""'),
        ("NodeName=n1 Gres= State=UP", "value-swallowed", (1, 19, 27), "reads 'State=UP' as its value", 'Gres=""'),
        ("Prolog=/a SlurmctldPort=1", "extra-text", (1, 11, 26), "only key on its line", "separate line"),
        ("Prolog=/a b", "extra-text", (1, 11, 12), "'b' is not part", 'Prolog="/a b"'),
        ("NodeName=n1 Reason=bad disk State=UP", "extra-text", (1, 24, 37), "'disk' is not part", 'Reason="bad disk"'),
        ('NodeName=n1 Reason="bad" disk', "not-a-pair", (1, 26, 30), "'disk' is not Key=Value", None),
        ('Prolog="/a"b', "stray-quote", (1, 8, 13), "part of Prolog", "whole value"),
        ('Prolog="/a#b"', "stray-quote", (1, 8, 11), "part of Prolog", r"\#"),
        ("Prolog=/a\0/b", "nul-byte", (1, 10, 11), "NUL", None),
        (" Include x", "include-failed", (1, 2, 10), "very start", "remove the text before it"),
        ("Include \n", "include-failed", (1, 1, 8), "has no file name", None),
        ("Include a b\n", "extra-text", (1, 11, 12), "text after the file name", "one file"),
        ("Include a", "include-unterminated", (1, 9, 10), "end with a blank or newline", "end the line"),
        ("Include a#b\n", "include-unterminated", (1, 9, 10), "end with a blank or newline", "end the line"),
    ],
)
def test_problems(text: str, kind: str, at: tuple[int, int, int], message: str, hint: str | None) -> None:
    (problem,) = only(text).problems
    assert (problem.kind, problem.at) == (kind, at)
    assert message in problem.message
    assert (hint or "") in (problem.hint or "")


def test_a_value_of_pairs_may_follow_a_blank() -> None:
    assert only("Prolog= a=1,b=2").problems == ()
    assert only("NodeName=n1 Gres= a=1").problems == ()


def test_all_problems_of_a_file_are_reported() -> None:
    text = "Foo=1\nNodeName=n1 Bar=2 Baz=3\nProlog=\nClusterName=a b\n"
    problems = [
        (line.number, problem.kind) for line in parse(text, "f", key_tables=TABLES) for problem in line.problems
    ]
    assert problems == [
        (1, ProblemKind.KEY_UNKNOWN),
        (2, ProblemKind.KEY_UNKNOWN),
        (2, ProblemKind.KEY_UNKNOWN),
        (3, ProblemKind.VALUE_MISSING),
        (4, ProblemKind.EXTRA_TEXT),
    ]
    assert all(kind.fatal for _, kind in problems)
    assert not ProblemKind.STRAY_QUOTE.fatal


@pytest.mark.parametrize(
    ("text", "name"), [("Include a.conf\n", "a.conf"), ("INCLUDE\t a \n", "a"), ("include a\\#b \n", "a#b")]
)
def test_include_lines(text: str, name: str) -> None:
    line = only(text)
    assert (line.include, line.pairs, line.problems) == (name, (), ())


def test_bytes_of_any_encoding() -> None:
    text = decode(b"A=caf\xe9\r\nB=\xc3\xa9\n")
    assert pairs(text) == [("A", "caf\udce9"), ("B", "\u00e9")]
    assert text.encode("utf-8", "surrogateescape") == b"A=caf\xe9\r\nB=\xc3\xa9\n"


@pytest.mark.slow
@given(st.one_of(st.text(), st.text(alphabet='Aa=+" \t\n\r\\#\0\x0b\x1c\x85', max_size=60)))
def test_any_text_is_read_and_every_place_is_in_it(text: str) -> None:
    physical = text.split("\n")
    for line in parse(text, "f", key_tables={"": ["A"], "A": ["a"]}):
        spans = [problem.at for problem in line.problems]
        spans += [span for pair in line.pairs for span in (pair.key_at, pair.value_at)]
        for number, column, end in spans:
            assert line.number <= number <= len(physical)
            assert 1 <= column <= end <= len(physical[number - 1]) + 1
        for pair in line.pairs:
            number, column, end = pair.key_at
            # A backslash may stand inside a key, and is not part of it.
            assert physical[number - 1][column - 1 :].replace("\\", "").startswith(pair.key) or "\\" in text
