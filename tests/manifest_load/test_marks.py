"""The place of every value, key and span."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clustergen.diagnostics import Finding, ManifestPath, Place
from clustergen.diagnostics.redaction import masked
from clustergen.manifest.source import Source

TEXT = """\
# a comment
name: tiny   # trailing
nodes:
  - {name: "gpu[1-2]", type: h10, roles: [a, bb]}
  - name: login
    empty:
slurm:
  partitions:
    all: &all
      nodes: 'it''s'
    again: *all
    short: *all
text: |
  first
  second
folded: >
  one
  two
escaped: "a\\tb\\x41c"
"""


@pytest.fixture
def source() -> Source:
    result = Source("m", TEXT.encode())
    assert result.diagnostics == []
    return result


def spanned(source: Source, place: Place) -> str:
    """The characters that the carets stand under."""
    line = source.text.splitlines()[place.line - 1]
    return line[place.column - 1 : place.end_column - 1]


@pytest.mark.parametrize(
    ("path", "line", "text"),
    [
        (("name",), 2, "tiny"),
        (("nodes", 0, "name"), 4, '"gpu[1-2]"'),
        (("nodes", 0, "roles"), 4, "[a, bb]"),
        (("nodes", 0, "roles", 1), 4, "bb"),
        (("nodes", 0), 4, '{name: "gpu[1-2]", type: h10, roles: [a, bb]}'),
        (("nodes", 1), 5, "name: login"),
        (("nodes", 1, "name"), 5, "login"),
        (("slurm", "partitions", "all", "nodes"), 10, "'it''s'"),
        (("text",), 13, "|"),
        (("nodes",), 4, '- {name: "gpu[1-2]", type: h10, roles: [a, bb]}'),
    ],
)
def test_values(source: Source, path: ManifestPath, line: int, text: str) -> None:
    place = source.place(path)
    assert place.line == line
    assert spanned(source, place) == text


@pytest.mark.parametrize(
    ("path", "line", "text"),
    [(("name",), 2, "name"), (("nodes", 0, "type"), 4, "type"), (("slurm", "partitions"), 8, "partitions")],
)
def test_keys(source: Source, path: ManifestPath, line: int, text: str) -> None:
    place = source.place(path, key=True)
    assert (place.line, spanned(source, place)) == (line, text)


@pytest.mark.parametrize(
    ("path", "line", "text"),
    [
        (("slurm", "version"), 7, "slurm"),
        (("slurm", "partitions", "none", "nodes"), 8, "partitions"),
        (("nodes", 1, "type"), 5, "name: login"),
        (("nodes", 9, "type"), 3, "nodes"),
        (("nodes", 1, "empty"), 6, "empty"),
        (("name", "below", 0), 2, "name"),
    ],
)
def test_a_missing_path_gives_the_nearest_key(source: Source, path: ManifestPath, line: int, text: str) -> None:
    place = source.place(path)
    assert (place.line, spanned(source, place)) == (line, text)


def test_the_top_is_a_point(source: Source) -> None:
    assert source.place(()) == source.place(("nothing",)) == Place("m", 2, 1, 1)


@pytest.mark.parametrize(
    ("path", "at", "text"),
    [
        (("nodes", 0, "name"), (3, 5), "[1-2]"),
        (("nodes", 0, "name"), (0, 8), "gpu[1-2]"),
        (("nodes", 0, "type"), (1, 1), "1"),
        (("slurm", "partitions", "all", "nodes"), (2, 1), "''"),
        (("slurm", "partitions", "all", "nodes"), (3, 1), "s"),
        (("escaped",), (1, 1), "\\t"),
        (("escaped",), (3, 1), "\\x41"),
        (("escaped",), (4, 1), "c"),
        (("nodes", 0, "name"), (3, 99), "[1-2]"),
        (("nodes", 0, "name"), (99, 9), ""),
        (("folded",), (0, 3), ">"),
    ],
)
def test_spans_inside_a_scalar(source: Source, path: ManifestPath, at: tuple[int, int], text: str) -> None:
    assert spanned(source, source.place(path, at=at)) == text


def test_a_span_inside_a_key() -> None:
    source = Source("m", b"a: {ab c: 1}\n")
    assert source.place(("a", "ab c"), key=True, at=(2, 1)) == Place("m", 1, 7, 8)


def test_an_alias_means_its_anchor(source: Source) -> None:
    assert source.place(("slurm", "partitions", "again", "nodes")).line == 10
    assert source.place(("slurm", "partitions", "again"), key=True).line == 11


def test_scalars_as_written(source: Source) -> None:
    assert source.text_of(("nodes", 0, "name")) == '"gpu[1-2]"'
    assert source.text_of(("nodes",)) is None
    assert source.text_of(("no",)) is None
    assert Source("m", b"v: 24.10\n").text_of(("v",)) == "24.10"


def test_findings_become_diagnostics_in_file_order(source: Source) -> None:
    diagnostics = source.diagnose(
        [
            Finding("key-unknown", ("slurm",), "second", key=True),
            Finding("key-unknown", ("nodes", 0, "type"), "first", "a hint"),
        ]
    )
    assert [(item.message, item.hint, str(item.place)) for item in diagnostics] == [
        ("first", "a hint", "m:4:30"),
        ("second", None, "m:7:1"),
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_counts(line_end: str) -> None:
    source = Source("m", f"a: 1{line_end}b:{line_end}  c: x{line_end}".encode())
    assert source.place(("b", "c")) == Place("m", 3, 6, 7)


def test_line_ends_of_yaml_1_1_do_not_move_lines() -> None:
    source = Source("m", "a: 'x\u2028y\u0085z'\nb: 名 # 前\nc: 1\n".encode())
    assert source.place(("b",)) == Place("m", 2, 4, 5)
    assert source.place(("c",)) == Place("m", 3, 4, 5)


def test_a_byte_order_mark_does_not_move_columns() -> None:
    source = Source("m", b"\xef\xbb\xbfname: x\n")
    assert source.data == {"name": "x"}
    assert source.place(("name",)) == Place("m", 1, 7, 8)


def leaves(data: object, path: ManifestPath = ()) -> list[tuple[ManifestPath, str]]:
    if isinstance(data, dict):
        return [leaf for key, inner in data.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(data, list):
        return [leaf for index, inner in enumerate(data) for leaf in leaves(inner, (*path, index))]
    return [(path, str(data))]


# Words that PyYAML, which knows YAML 1.1 only, would write in quotes are left out.
WORDS = st.from_regex(r"[a-df-mq-su-x][a-df-mq-su-x0-9]{0,8}", fullmatch=True)  # no word of YAML, no secret
TREES = st.dictionaries(
    WORDS,
    st.recursive(
        WORDS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.slow
@given(TREES, st.booleans())
def test_every_leaf_of_any_tree_is_where_its_place_says(tree: dict[str, object], flow: bool) -> None:
    source = Source("m", yaml.safe_dump(tree, default_flow_style=flow, width=10_000).encode())
    assert source.data == tree
    for path, text in leaves(tree):
        if text not in ("[]", "{}"):
            assert spanned(source, source.place(path)) == text


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("set slurm.accounting.password: true", "set slurm.accounting.password: true"),
        ("cannot be 'slurm'; write hunter2, or write slurm", "cannot be '•••••'; write •••••••, or write •••••"),
        ("write home: {type: nfs, key: slurm, of: [x, slurm]}", "write home: {type: nfs, key: •••••, of: [x, •••••]}"),
        ("requires the key of slurm", "requires the key of slurm"),
        ("'batch' requires another moon, not moon", "'batch' requires another ••••, not ••••"),
        ("password: slurm", "password: •••••"),
    ],
)
def test_a_message_keeps_words_of_its_own_and_shows_nothing_of_a_value(message: str, shown: str) -> None:
    """Words of the codes' titles, such as slurm, stay where a message does not repeat the file; others never do."""
    assert masked(message, {"slurm", "hunter2", "moon"}) == shown


@pytest.mark.parametrize("after", ["", ", path: /y"])
def test_the_bracket_behind_a_secret_is_shown(after: str) -> None:
    source = Source("m", f"a: {{mount: /x, password: hunter22{after}}}\n".encode())
    assert source.text == f"a: {{mount: /x, password: ••••••••{after}}}\n"
