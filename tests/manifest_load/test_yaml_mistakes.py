"""The usual YAML mistakes: code, place, message and hint."""

import pytest
import yaml

from clustergen.manifest import yaml_load
from clustergen.manifest.source import Source


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: the one in C, and the one that it has where libyaml is missing."""
    monkeypatch.setattr(yaml, "__with_libyaml__", request.param == "libyaml")


def diagnostics_of(text: str) -> list[tuple[str, str, str, str | None]]:
    """Code, line:column, message and hint of each diagnostic."""
    return [
        (diagnostic.code, str(diagnostic.place).removeprefix("m:"), diagnostic.message, diagnostic.hint)
        for diagnostic in Source("m", text.encode()).diagnostics
    ]


MISTAKES = {
    "tab before a key": ("a:\n\tb: 1\n", "yaml-tab", "2:1", "a line is indented with a tab", "use spaces"),
    "tab behind spaces": ("a:\n  \tb: 1\n", "yaml-tab", "2:3", "a line is indented with a tab", "use spaces"),
    "tab in a value of lines": ("a: b\n\tc\n", "yaml-tab", "2:1", "a line is indented with a tab", "use spaces"),
    "tab before an item": ("- a\n\t- b\n", "yaml-tab", "2:1", "a line is indented with a tab", "use spaces"),
    "tab in a block of text": ("a: |\n  x\n\ty\n", "yaml-tab", "3:1", "a line is indented with a tab", "use spaces"),
    "no space after a colon": (
        "a: 1\nname:foo\nb: 2\n",
        "yaml-syntax",
        "2:5",
        "the space after the colon of 'name' is missing",
        "write name: foo",
    ),
    "an equals sign": (
        "a: 1\nos = debian-13\n",
        "yaml-syntax",
        "2:1",
        "'os = debian-13' is not 'key: value'",
        "write os: debian-13",
    ),
    "no space after a dash": (
        "a:\n  -{b: 1, c: 2}\n",
        "yaml-syntax",
        "2:3",
        "the space after '-' is missing",
        "write '- '",
    ),
    "a semicolon": (
        "a: {b: x; c: 2}\n",
        "yaml-syntax",
        "1:11",
        "a comma is missing before this key",
        "write a: {b: x, c: 2}",
    ),
    "a conflict of a merge": (
        "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> more\nc: 4\n",
        "yaml-syntax",
        "2:1",
        "this line is a conflict marker of a git merge",
        "resolve the conflict of lines 2-6, then run clustergen render",
    ),
    "a conflict within a list": (
        "a:\n  - b\n<<<<<<< HEAD\n  - c\n||||||| 1f2e3d4\n=======\n  - d\n>>>>>>> more\n",
        "yaml-syntax",
        "3:1",
        "this line is a conflict marker of a git merge",
        "resolve the conflict of lines 3-8, then run clustergen render",
    ),
    "a conflict whose beginning was removed": (
        "a: 1\nb: 2\n=======\nb: 3\n>>>>>>> more\n",
        "yaml-syntax",
        "3:1",
        "this line is a conflict marker of a git merge",
        "resolve the conflict of lines 3-5, then run clustergen render",
    ),
    "no colon": ("a: 1\nfoo # x\n", "yaml-syntax", "2:1", "'foo' is not 'key: value'", "add the missing colon"),
    "no-break space": (
        "a: 1\nfoo:\u00a0bar\n",
        "yaml-syntax",
        "2:5",
        "this is a no-break space, not a space",
        "replace it with a space",
    ),
    "no-break space in a mapping": (
        "a: 1\nfoo: {b:\u00a0{c: 1}} # d:\u00a0e\n",
        "yaml-syntax",
        "2:9",
        "this is a no-break space, not a space",
        "replace it with a space",
    ),
    "no-break space before a comment": (
        'a: "b:\u00a0c"\nfoo: 1\u00a0# d\n',
        "yaml-syntax",
        "2:7",
        "this is a no-break space, not a space",
        "replace it with a space",
    ),
    "no colon on the first line": (
        "foo bar\nbaz: 1\n",
        "yaml-syntax",
        "1:1",
        "'foo bar' is not 'key: value'",
        "write foo: bar",
    ),
    "no colon before a section": (
        "a:\n  net {b: 1, c: 2}\n",
        "yaml-syntax",
        "2:3",
        "the colon after 'net' is missing",
        "write net:",
    ),
    "an item further left than the others": (
        "a:\n  - {b: 1}\n - {b: 2}\n",
        "yaml-syntax",
        "3:2",
        "this list item is indented by 1 space, the one above by 2 spaces",
        "indent it by 2 spaces",
    ),
    "an item further right than the others": (
        "a:\n  - {b: 1}\n   - {b: 2}\n",
        "yaml-syntax",
        "3:4",
        "this list item is indented by 3 spaces, the one above by 2 spaces",
        "indent it by 2 spaces",
    ),
    "open quote": (
        'a: "foo\nb: 1\n',
        "yaml-syntax",
        "1:4",
        'the quote " opened here is never closed',
        'add " behind the text',
    ),
    "open quote, another below": (
        'a: "foo\nb: "bar"\n',
        "yaml-syntax",
        "2:4",
        'the quote " ends here, but was opened on line 1',
        "close the quote on line 1",
    ),
    "quote inside quotes": (
        "a: 'it's'\n",
        "yaml-syntax",
        "1:7",
        "the quote ' ends the value here, but more follows",
        "put the whole value in quotes, and write '' for a quote inside",
    ),
    "words behind a quote": (
        'a: "x" y\n',
        "yaml-syntax",
        "1:6",
        'the quote " ends the value here, but more follows',
        'put the whole value in quotes, and write \\" for a quote inside',
    ),
    "open bracket": ("a: [1, 2\nb: 3\n", "yaml-syntax", "1:4", "'[' opened here is never closed", "add ']'"),
    "open brace at the end": ("a: {b: 1,\n", "yaml-syntax", "1:4", "'{' opened here is never closed", "add '}'"),
    "wrong bracket": ("a: {b: 1]\n", "yaml-syntax", "1:9", "']' does not match '{'", "write '}'"),
    "bracket too many": (
        "a: 1\n]\n",
        "yaml-syntax",
        "2:1",
        "']' closes nothing",
        "put it in quotes if it is meant as text",
    ),
    "host list in braces": (
        "a: {name: c[01-08], t: x}\n",
        "yaml-syntax",
        "1:11",
        "brackets inside { } require quotes",
        'write "c[01-08]"',
    ),
    "host list that begins with a bracket": (
        "a: [01-08].x # y\n",
        "yaml-syntax",
        "1:4",
        "']' ends the value here, but more follows",
        'put the whole value in quotes: "[01-08].x"',
    ),
    "jinja": (
        "a: {{ x }}\n",
        "yaml-syntax",
        "1:4",
        "'{{' opens a mapping in YAML",
        "write the value itself: a manifest has no variables; put text for another program in quotes",
    ),
    "jinja in the middle": (
        "a: {{ x }}/y\n",
        "yaml-syntax",
        "1:4",
        "'{{' opens a mapping in YAML",
        "write the value itself: a manifest has no variables; put text for another program in quotes",
    ),
    "no comma": (
        "a: {b: 1 c: 2}\n",
        "yaml-syntax",
        "1:10",
        "a comma is missing before this key",
        "write a: {b: 1, c: 2}",
    ),
    "at sign": ("a: @x\n", "yaml-syntax", "1:4", "a value cannot begin with '@'", 'put it in quotes: "@x"'),
    "percent": ("a: %x y\n", "yaml-syntax", "1:4", "a value cannot begin with '%'", 'put it in quotes: "%x y"'),
    "backtick": ("a: `x`\n", "yaml-syntax", "1:4", "a value cannot begin with '`'", 'put it in quotes: "`x`"'),
    "star": (
        "a: *.conf\n",
        "yaml-syntax",
        "1:4",
        "'*' begins an alias, but no name follows",
        'put it in quotes if it is meant as text: "*.conf"',
    ),
    "ampersand": (
        "a: & b\n",
        "yaml-syntax",
        "1:4",
        "'&' begins an anchor, but no name follows",
        'put it in quotes if it is meant as text: "& b"',
    ),
    "bar": (
        "a: |x\n  y\n",
        "yaml-syntax",
        "1:4",
        "'|' starts a block of text lines, so nothing else may follow on this line",
        'put it in quotes if it is meant as text: "|x"',
    ),
    "two colons": ("a: b: c\n", "yaml-syntax", "1:5", "a second ': ' in one value", "put the whole value in quotes"),
    "key too far right": (
        "a: b\n  c: d\n",
        "yaml-syntax",
        "2:3",
        "'c' is indented as part of the value on line 1",
        "indent it like the key on line 1",
    ),
    "indentation of nothing": (
        "a:\n  b: 1\n c: 2\n",
        "yaml-syntax",
        "3:2",
        "nothing above is indented by 1 space",
        "indent it by 0 spaces, as line 1",
    ),
    "no space after the colon of a key": (
        'a: 1\nb:\n  c:"1"\n  d: 2\n',
        "yaml-syntax",
        "3:3",
        "'c:\"1\"' is not 'key: value'",
        "add a space after the colon of 'c'",
    ),
    "no space after the colon of the key above": (
        'a: 1\nb:\n  c:"1" # x\n  d: 2\n',
        "yaml-syntax",
        "3:3",
        "'c' has no space after its colon, so this line is no key",
        "add a space after the colon of 'c'",
    ),
    "item among keys": (
        "a: 1\n- b\n",
        "yaml-syntax",
        "2:1",
        "a list item is among the keys that begin on line 1",
        "write '- ' before the key on line 1 as well, or remove it here",
    ),
    "key among items": (
        "- a\nb: 1\n",
        "yaml-syntax",
        "2:1",
        "a key is among the list items that begin on line 1",
        "remove the '- ' on line 1, or write one here",
    ),
    "item on the line of its key": (
        "a: - b\n",
        "yaml-syntax",
        "1:4",
        "a list item cannot begin here",
        "begin each '- ' on a separate line",
    ),
    "escape": (
        'a: "\\q"\n',
        "yaml-syntax",
        "1:5",
        "'\\q' is not an escape sequence in double quotes",
        "use single quotes, which keep backslashes",
    ),
    "alias of nothing": (
        "a: &abc 1\nb: *abd\n",
        "yaml-syntax",
        "2:4",
        "anchor '&abd' is not defined before this",
        "did you mean 'abc'?",
    ),
    "list as a key": (
        "? [a]\n: b\n",
        "yaml-syntax",
        "1:3",
        "a key must be plain text",
        "put it in quotes if it is meant as text",
    ),
    "alias as a key": (
        "a: &a b\n*a : c\n",
        "yaml-syntax",
        "2:1",
        "a key cannot be an alias",
        "put a value that begins with '*' in quotes",
    ),
    "empty key": ("a: 1\n: b\n", "yaml-syntax", "2:1", "a key is empty", None),
    "tag": (
        "a: !vault x\n",
        "yaml-tag",
        "1:4",
        "the tag '!vault' is not allowed",
        "keep secrets in Ansible Vault, not in the manifest",
    ),
    "tag of a mapping": (
        "a: !include {b: 1}\n",
        "yaml-tag",
        "1:4",
        "the tag '!include' is not allowed",
        "write extends: FILE at the top: sections of that file apply where this one has none",
    ),
    "python tag": (
        "a: !!python/object:os.system x\n",
        "yaml-tag",
        "1:4",
        "the tag '!!python/object:os.system' is not allowed",
        "remove the tag; put a value that begins with '!' in quotes",
    ),
    "tag that does not fit": ("a: !!int x\n", "yaml-tag", "1:4", "'x' does not fit its tag '!!int'", None),
    "tag without a handle": (
        "a: !x!y z\n",
        "yaml-tag",
        "1:4",
        "'!' begins a tag, but this is not a valid one",
        'put it in quotes if it is meant as text: "!x!y z"',
    ),
    "directive": ("%TAG ! x\n---\na: 1\n", "yaml-tag", "1:1", "YAML directives are not supported", None),
    "merge key": (
        "a: {<<: {b: 1}}\n",
        "yaml-merge-key",
        "1:5",
        "merge keys (<<) are not supported",
        "write like: NAME in a node type to take over another's values, or extends: FILE for whole sections",
    ),
    "second document": (
        "a: 1\n---\nb: 1\n",
        "yaml-many-documents",
        "2:1",
        "a second document begins here",
        "move the second document to a separate file: one file describes one cluster",
    ),
    "text behind the end": (
        "a: 1\n...\nb: 2\n",
        "yaml-syntax",
        "3:1",
        "the manifest ends before this line",
        "remove the line '...'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake: str) -> None:
    text, *expected = MISTAKES[mistake]
    assert diagnostics_of(text) == [tuple(expected)]


def test_errors_that_do_not_end_the_reading_are_reported_at_once() -> None:
    text = "a: 1\na: 2\nb: {c: 1, c: 2, <<: x}\nd: !x y\n? ''\n: 1\n"
    assert [(code, place) for code, place, _, _ in diagnostics_of(text)] == [
        ("yaml-duplicate-key", "2:1"),
        ("yaml-duplicate-key", "3:11"),
        ("yaml-merge-key", "3:17"),
        ("yaml-tag", "4:4"),
        ("yaml-syntax", "5:3"),
    ]


def test_all_brackets_without_quotes_are_reported_at_once() -> None:
    text = "a: {n: c[1-2], m: c[3]}\nb: [d[1-2], e]\nb: [08].x\nc: {d: 1 e: 2}\nf: {g: h[1]}\n"
    assert [(place, message, hint) for _, place, message, hint in diagnostics_of(text)] == [
        ("1:8", "brackets inside { } require quotes", 'write "c[1-2]"'),
        ("1:19", "brackets inside { } require quotes", 'write "c[3]"'),
        ("2:5", "brackets inside [ ] require quotes", 'write "d[1-2]"'),
        ("3:1", "key 'b' is listed twice; the first is on line 2, column 1", "remove one of them"),
        ("3:4", "']' ends the value here, but more follows", 'put the whole value in quotes: "[08].x"'),
        ("4:10", "a comma is missing before this key", "write c: {d: 1, e: 2}"),
    ]


def test_consequences_of_a_bracket_are_not_reported() -> None:
    assert [place for _, place, *_ in diagnostics_of("a: {n: c[1-2] m: d}\n")] == ["1:8"]
    assert diagnostics_of("a: {n: c[1-2, m: d}\n")[0][2:] == (
        "'[' opened here is never closed",
        "add ']', and put the text in quotes",
    )


@pytest.mark.slow
def test_many_brackets_are_read_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"a{number}: {{n: c[1-2]}}\n" for number in range(60))
    assert len(diagnostics_of(text)) == yaml_load.MAX_UNQUOTED + 1
    monkeypatch.setattr(yaml_load, "MAX_READ_AGAIN", len(text) * 3)
    assert len(diagnostics_of(text)) == 4


def test_a_duplicate_names_both_places_and_the_first_counts() -> None:
    source = Source("m", b"a: 1\nb:\n  x: 1\n  y: 2\n  x: 3\n")
    (diagnostic,) = source.diagnostics
    assert (str(diagnostic.place), diagnostic.message) == (
        "m:5:3",
        "key 'x' is listed twice; the first is on line 3, column 3",
    )
    assert source.data == {"a": 1, "b": {"x": 1, "y": 2}}


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n...\n",
        "---\na: 1\n",
        "%YAML 1.2\n---\na: 1\n",
        "a: 1\n# end\n...\n# more\n",
        "a: 1\n\n\n",
        "a: 'x\n\ty'\n",
        "a: |\n  x\n  \ty\n",
        "a: |\n  ---\n",
        "'a': 1\n",
        '"%TAG": 1\n',
    ],
)
def test_unusual_but_right(text: str) -> None:
    assert diagnostics_of(text) == []


# PyYAML's own parser refuses these tabs, which YAML allows: the line says so, and spaces please both.
@pytest.mark.parametrize("engine", ["libyaml"], indirect=True)
@pytest.mark.parametrize("text", ["a: {b: c,\n\td: e}\n", "a:\tb\n", "a: 1\t# x\n"])
def test_tabs_that_indent_nothing(text: str) -> None:
    assert diagnostics_of(text) == []
