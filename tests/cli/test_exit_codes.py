"""The exit codes that the help of a verb lists, and those that `validate` ends with."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.test_output import verbs
from clustergen.cli import group
from clustergen.cli.exit_codes import EXIT_CODES
from strategies.diffs import MANIFEST


def test_every_verb_and_no_other_has_exit_codes() -> None:
    assert [name for name, _ in verbs(group, click.Context(group))] == list(EXIT_CODES)


@pytest.mark.parametrize("verb", EXIT_CODES)
def test_help_ends_with_the_exit_codes(verb: str) -> None:
    shown = CliRunner().invoke(group, [*verb.split(), "--help"]).stdout
    listed = shown.partition("\n\n  Exit codes:\n")[2]
    codes = re.findall(r"^    (\d)  ", listed, re.MULTILINE)
    assert codes == [str(code) for code, meaning in enumerate(EXIT_CODES[verb]) if meaning]
    assert shown.lower().count("exit code") == 1
    assert max(map(len, listed.splitlines())) < 80


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
    assert EXIT_CODES["validate"][code]
