"""The text format: place, excerpt, caret, hint, and nothing that a terminal would act on."""

import io
import re

import pytest

from clustergen.diagnostics import CODES, Diagnostic, Place, Severity, exit_code, in_file_order, render, wants_colour


def show(text: str, line: int, column: int, end: int, message: str = "wrong", hint: str | None = None) -> list[str]:
    diagnostic = Diagnostic.of("key-unknown", Place("m.yaml", line, column, end), message, hint)
    return render([diagnostic], "text", {"m.yaml": text}).splitlines()


def test_the_block_is_the_one_of_the_contract() -> None:
    text = "node_types:\n" + "\n" * 12 + "  type: h10\n"
    assert show(text, 14, 9, 12, "node type 'h10' is not defined", "did you mean 'h100'?") == [
        "m.yaml:14:9: error[key-unknown]: node type 'h10' is not defined",
        "   14 |   type: h10",
        "      |         ^^^",
        "   hint: did you mean 'h100'?",
        "1 error",
    ]


def test_a_point_has_one_caret() -> None:
    assert show("abc\n", 1, 2, 2)[2] == "      |  ^"


def test_tabs_are_shown_as_spaces_and_the_caret_is_right() -> None:
    assert show("\tkey:\tvalue\n", 1, 7, 12)[1:3] == ["    1 |     key:    value", "      |             ^^^^^"]


def test_wide_and_combining_characters_move_the_caret_by_cells() -> None:
    assert show("名前: 値段\n", 1, 5, 7)[2] == "      |       ^^^^"
    assert show("e\u0301tude: x\n", 1, 9, 10)[2] == "      |        ^"


def test_a_very_long_line_is_cut_around_the_span() -> None:
    line = "a" * 5000 + "HERE" + "b" * 5000
    excerpt, carets = show(line, 1, 5001, 5005)[1:3]
    assert len(excerpt) < 170
    start = carets.index("^")
    assert excerpt[start : start + 4] == "HERE"
    assert carets.count("^") == 4


def test_a_place_behind_the_file_has_no_excerpt() -> None:
    assert show("one\n", 9, 1, 2) == ["m.yaml:9:1: error[key-unknown]: wrong", "1 error"]


def test_windows_and_old_line_ends_count_as_lines() -> None:
    assert show("a\r\nb\rc\n", 3, 1, 2)[1] == "    3 | c"


def test_the_file_as_a_whole_and_no_file_at_all() -> None:
    whole = Diagnostic.of("file-unreadable", Place("m.yaml"), "cannot be read")
    nothing = Diagnostic.of("file-unreadable", None, "cannot be read")
    assert render([whole, nothing], "text", {"m.yaml": "x"}).splitlines() == [
        "m.yaml: error[file-unreadable]: cannot be read",
        "error[file-unreadable]: cannot be read",
        "2 errors",
    ]


@pytest.mark.parametrize("evil", ["\x1b[31m", "\x07", "\r", "\u202e", "\u2066", "\x9b", "\u2028", "\udc80"])
def test_control_characters_never_reach_the_terminal(evil: str) -> None:
    diagnostic = Diagnostic.of("key-unknown", Place(f"m{evil}", 1, 1, 3), f"no {evil}", f"try {evil}")
    shown = render([diagnostic], "text", {f"m{evil}": f"{evil}x" if evil != "\r" else "xx"})
    assert evil not in shown
    shown.encode()


def test_the_summary_counts_each_severity() -> None:
    def one(severity: Severity) -> Diagnostic:
        return Diagnostic("key-unknown", severity, None, "x")

    items = [one(Severity.ERROR)] * 3 + [one(Severity.WARNING)] + [one(Severity.INFO)] * 2
    assert render(items).splitlines()[-1] == "3 errors, 1 warning, 2 infos"
    assert render([]) == ""


def test_colour_is_only_added_never_needed() -> None:
    diagnostic = Diagnostic.of("key-unknown", Place("m", 1, 1, 2), "wrong", "try")
    plain = render([diagnostic], "text", {"m": "ab"})
    coloured = render([diagnostic], "text", {"m": "ab"}, colour=True)
    assert "\x1b[" not in plain
    assert "\x1b[1;31merror[key-unknown]\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    assert wants_colour(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_order_is_that_of_the_file_and_nothing_is_printed_twice() -> None:
    late = Diagnostic.of("key-unknown", Place("m", 10, 1, 2), "late")
    early = Diagnostic.of("key-unknown", Place("m", 9, 5, 6), "early")
    nowhere = Diagnostic.of("key-unknown", None, "nowhere")
    assert in_file_order([late, early, late, nowhere]) == [nowhere, early, late]


def test_exit_codes() -> None:
    invalid = Diagnostic.of("key-unknown", None, "x")
    unreadable = Diagnostic.of("file-unreadable", None, "x")
    warning = Diagnostic("key-unknown", Severity.WARNING, None, "x")
    assert exit_code([]) == exit_code([warning]) == 0
    assert exit_code([warning, invalid]) == 2
    assert exit_code([invalid, unreadable]) == 3
    assert {code.exit_code for code in CODES.values()} <= {2, 3}


def test_an_unknown_code_or_format_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        Diagnostic.of("no-such-code", None, "x")
    with pytest.raises(ValueError, match="xml"):
        render([], "xml")
