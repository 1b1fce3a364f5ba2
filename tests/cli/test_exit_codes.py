"""The exit codes that the help of a verb lists, and those that `validate` ends with."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.test_output import verbs
from clustergen.cli import group
from strategies.diffs import MANIFEST


def exit_codes(verb: str) -> list[str]:
    shown = CliRunner().invoke(group, [*verb.split(), "--help"]).stdout
    return re.findall(r"^    (\d)  ", shown.partition("\n\n  Exit codes:\n")[2], re.MULTILINE)


@pytest.mark.parametrize("verb", [name for name, _ in verbs(group, click.Context(group))])
def test_help_ends_with_the_exit_codes(verb: str) -> None:
    shown = CliRunner().invoke(group, [*verb.split(), "--help"]).stdout
    assert exit_codes(verb) in (["0", "1", "2", "3"], ["0", "2", "3"], ["0", "2"], ["0", "3"])
    assert shown.lower().count("exit code") == 1
    assert max(map(len, shown.partition("Exit codes:")[2].splitlines())) < 80


def test_a_summary_is_a_short_sentence() -> None:
    listed = CliRunner().invoke(group, ["--help"]).stdout.partition("Commands:\n")[2]
    words = " ".join(listed.split())
    for name in group.list_commands(click.Context(group)):
        assert re.search(rf"\b{name} [A-Z][^`.]{{20,80}}(slurm\.conf[^.]*)?\.", words), name


USES = {
    "valid, with warnings": (MANIFEST, [], 0, "warning["),
    "an error": ("name: 1\n", [], 2, "error["),
    "an error that is not to count": ("name: 1\n", ["--exit-zero"], 0, "error["),
    "no file": (None, [], 3, "file-unreadable"),
    "no file that is not to count": (None, ["--exit-zero"], 3, "file-unreadable"),
    "a wrong use": (MANIFEST, ["--slect", "x"], 2, "--select"),
}


@pytest.mark.parametrize("use", USES)
def test_validate_ends_with_what_its_help_lists(use: str, tmp_path: Path) -> None:
    text, options, code, words = USES[use]
    if text is not None:
        (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(group, ["validate", str(tmp_path / "m.yaml"), *options])
    assert done.exit_code == code
    assert words in done.output
    assert str(code) in exit_codes("validate")
