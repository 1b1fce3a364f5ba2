"""Streams and colours: findings on stdout, remarks on stderr, -q and --color on every verb."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group

MANIFEST = Path(__file__).resolve().parents[2] / "inventories/home-3090/manifest.yaml"
CONF = "ClusterName=c\nSlurmctldHost=ctl\nFoo=1\n"
RED = "\x1b[1;31m"


def run(*words: str | Path, **environment: str | None) -> Result:
    return CliRunner().invoke(group, list(map(str, words)), env={"NO_COLOR": None, **environment})


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(CONF)
    return tmp_path / "slurm.conf"


def verbs(command: click.Command, ctx: click.Context, *names: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(names), command
        return
    for name in command.list_commands(ctx):
        below = command.get_command(ctx, name)
        assert below is not None
        yield from verbs(below, ctx, *names, name)


def test_every_verb_has_the_options() -> None:
    for name, command in verbs(group, click.Context(group)):
        options = [option for parameter in command.params for option in parameter.opts]
        for option in ("-q", "--quiet", "-v", "--verbose", "--color"):
            assert options.count(option) == 1, f"{name} {option}"


def test_findings_are_on_stdout_and_remarks_on_stderr(conf: Path) -> None:
    done = run("lint", conf, "--slurm-version", "24.11")
    assert "error[slurm-key-unknown]" in done.stdout
    assert done.stderr == "slurm.conf: read as Slurm 24.11.\n"


@pytest.mark.parametrize("words", [("-q", "lint"), ("lint", "-q"), ("lint", "--quiet")])
def test_quiet_prints_findings_alone(words: tuple[str, ...], conf: Path) -> None:
    done = run(*words, conf)
    assert done.stderr == ""
    assert "error[slurm-key-unknown]" in done.stdout
    assert " errors" not in done.stdout
    assert "warnings" not in done.stdout


def test_quiet_says_nothing_where_nothing_is_wrong(tmp_path: Path) -> None:
    for words in (
        ("validate", MANIFEST, "--ignore", "hardware-unconfirmed,slurm-packages-lacking"),
        ("render", MANIFEST, "--check"),
        ("verify", MANIFEST.parent / "rendered", "--only", "tree"),
        ("init", tmp_path / "manifest.yaml"),
    ):
        done = run(*words, "-q")
        assert (done.exit_code, done.output) == (0, ""), words


@pytest.mark.parametrize(
    ("words", "environment", "coloured"),
    [
        ((), {}, False),
        ((), {"CLICOLOR_FORCE": "1"}, True),
        ((), {"CLICOLOR_FORCE": "0"}, False),
        ((), {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"CLICOLOR_FORCE": "1"}, False),
        (("--color", "auto"), {"CLICOLOR_FORCE": "1"}, True),
    ],
)
def test_colour(words: tuple[str, ...], environment: dict[str, str], coloured: bool, conf: Path) -> None:
    assert (RED in run("lint", conf, *words, **environment).stdout) is coloured
    assert (RED in run(*words, "lint", conf, **environment).stdout) is coloured


def test_a_manifest_that_stops_explain_is_shown_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text("name: x\n")
    done = run("explain", tmp_path / "manifest.yaml", "slurm.conf:1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "error[key-missing]" in done.stderr
