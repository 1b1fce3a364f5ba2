"""Wording: guesses, lists, quotes, paths."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.compile import validate
from clustergen.diagnostics import did_you_mean, one_of, printable, quote, suggest, where
from clustergen.diagnostics.words import counted, listed


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("h10", "h100"),
        ("H100", "h100"),
        ("slurm_controller", "slurm-controller"),
        ("SlurmController", "slurm-controller"),
        ("sulrm-controller", "slurm-controller"),
        ("monitorng", "monitoring"),
        ("xyz", None),
        ("", None),
    ],
)
def test_suggest(word: str, meant: str | None) -> None:
    assert suggest(word, ["h100", "a100x", "slurm-controller", "slurm-compute", "monitoring"]) == meant


def test_suggest_prefers_the_same_letters() -> None:
    assert suggest("max-time", ["max_times", "max_time"]) == "max_time"


def test_hints_quote_the_guess() -> None:
    assert did_you_mean("h10", ["h100"]) == "did you mean 'h100'?"
    assert did_you_mean("zzz", ["h100"]) is None


@pytest.mark.slow
def test_the_limit_of_guesses_is_one_of_each_manifest(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text("".join(f"slurm{n}x: 1\n" for n in range(200)) + "slrum: 1\n", encoding="utf-8")
    for _ in range(2):
        hints = [item.hint for item in validate(path).diagnostics if item.code == "key-unknown"]
        assert sum(hint is not None and "did you mean" in hint for hint in hints) == 100


@pytest.mark.slow
@given(st.text(max_size=300), st.lists(st.text(max_size=30), max_size=20))
def test_a_guess_is_always_a_candidate(word: str, candidates: list[str]) -> None:
    assert suggest(word, candidates) in {*candidates, None}


def test_lists_of_choices() -> None:
    assert one_of(["a"]) == "'a'"
    assert one_of(["a", "b", "c"]) == "'a', 'b' or 'c'"
    assert one_of("abcdef", most=3) == "'a', 'b', 'c' or 3 more"
    assert one_of([]) == "nothing"
    assert (listed("abc", 3), listed("abc", 1)) == ("a, b, c", "a and 2 more")


def test_counted_nouns() -> None:
    nouns = ((1, "leaf"), (2, "leaf"), (1024, "switch"), (0, "MAC address"), (2, "node"))
    assert [counted(*row) for row in nouns] == ["1 leaf", "2 leaves", "1,024 switches", "0 MAC addresses", "2 nodes"]


@pytest.mark.slow
@given(st.text())
def test_quotes_are_short_and_on_one_line(text: str) -> None:
    shown = quote(text)
    assert len(shown) <= 62
    assert len(shown.splitlines()) == 1
    assert printable(text) == printable(printable(text))
    assert len(printable(text)) == len(text)


DATA = {"nodes": [{"name": "login1", "addresses": {"bmc": 1}}, {"type": "x"}], "slurm": {"partitions": {"gpu": {}}}}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ((), ""),
        (("nodes",), "nodes"),
        (("nodes", 0), "nodes 'login1'"),
        (("nodes", 0, "addresses", "bmc"), "nodes 'login1'.addresses.bmc"),
        (("nodes", 1, "name"), "nodes item 2.name"),
        (("nodes", 7), "nodes item 8"),
        (("slurm", "partitions", "gpu", "nodes"), "slurm.partitions.gpu.nodes"),
        (("missing", "deeper", 0), "missing.deeper item 1"),
    ],
)
def test_paths_have_names_in_place_of_indices(path: tuple[str | int, ...], words: str) -> None:
    assert where(path, DATA) == words
