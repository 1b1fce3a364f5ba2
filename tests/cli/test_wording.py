"""Help texts and messages for users who do not know the command line yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, arguments)


def test_without_a_verb_all_verbs_are_shown() -> None:
    shown = run().output
    for name in group.list_commands(None):  # type: ignore[arg-type, attr-defined]
        assert f"\n  {name} " in shown


def test_help_is_whole_on_a_narrow_terminal() -> None:
    """click truncates a verb's help line to the width of the terminal and ends it with dots."""
    for words in ((), ("lab",), ("setup",)):
        shown = CliRunner().invoke(group, [*words, "--help"], terminal_width=80).output
        assert "..." not in shown.partition("Commands:")[2]


def test_a_verb_that_is_misspelt_is_guessed() -> None:
    done = run("validat")
    assert done.exit_code == 2
    assert "Did you mean 'validate'?" in done.output


def test_verify_without_a_tree_is_no_pass() -> None:
    done = run("verify")
    assert done.exit_code == 2
    assert "`clustergen render`" in done.output


def test_an_unknown_code_names_the_command_that_lists_codes() -> None:
    done = run("explain", "zz")
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 2
    assert done.exception.hint == "`clustergen explain` lists all codes"
    error = run("explain", "node-typ-unknown").exception
    assert isinstance(error, ClustergenError)
    assert error.hint == "did you mean 'node-type-unknown'?"


ROOT = Path(__file__).resolve().parents[2]
KEPT_OUT = (
    *(
        "live on",
        "its kin",
        "their kin",
        "is told",
        "are told",
        "stands here",
        "what stands",
        "put right",
        "hang on no",
    ),
    *("by its like", "nobody tells", "no word of", "somebody computes", "as wanted", "wants lfs", "come or go"),
    *(
        "comes or goes",
        "came or went",
        "a slip of the",
        "for people.",
        "who reads it.",
        "takes away",
        "a word of which",
    ),
)
"""Translated idiom that readers did not understand."""
PHRASES = re.compile(rf"\b({'|'.join(map(re.escape, KEPT_OUT))})(?!\w)", re.IGNORECASE)
TEXTS = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "templates/**/*.j2", "playbooks/**/argument_specs.yml")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", TEXTS)
def test_guides_and_templates_are_in_plain_english(pattern: str) -> None:
    paths = sorted(ROOT.glob(pattern))
    assert paths
    matches = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in paths
        for match in PHRASES.finditer(" ".join(path.read_text(encoding="utf-8").split()))
    ]
    assert not matches, "\n".join(matches)


def test_help_is_in_plain_english() -> None:
    for verb in group.list_commands(None):  # type: ignore[arg-type, attr-defined]
        assert PHRASES.findall(" ".join(run(verb, "--help").output.split())) == [], verb
