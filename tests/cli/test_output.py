"""Streams and colours: findings on stdout, remarks on stderr, -q and --color on every verb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from strategies.diffs import LONGER, git
from strategies.diffs import MANIFEST as MANIFEST_TEXT

MANIFEST = Path(__file__).resolve().parents[2] / "inventories/home-3090/manifest.yaml"
CONF = "ClusterName=c\nSlurmctldHost=ctl\nFoo=1\n"
CLEAN = """ClusterName=c
SlurmctldHost=ctl(10.0.0.1)
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
NodeName=n[1-4] NodeAddr=10.0.0.[11-14] Sockets=2 CoresPerSocket=8 RealMemory=64000
PartitionName=batch Nodes=ALL Default=YES
"""
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
        for option in ("-q", "--quiet", "-v", "--verbose", "--color", "--no-extensions"):
            assert options.count(option) == 1, f"{name} {option}"


def test_findings_are_on_stdout_and_remarks_on_stderr(conf: Path) -> None:
    done = run("lint", conf, "--slurm-version", "24.11")
    assert "error[slurm-key-unknown]" in done.stdout
    assert done.stderr == "slurm.conf: read as Slurm 24.11.\n"


# What each verb reports goes to stdout, with its verdict; what it did, and what to do next, to stderr. Patterns are
# searched; `git`, `conf`, `clean` and `tree` are directories that the fixture makes.
STREAMS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "init": (("init", "new.yaml"), "", r"new.yaml .*written\. Next: clustergen validate"),
    "validate": (("validate", "git"), "manifest.yaml: small is valid: ", ""),
    "validate, statistics": (("validate", "git", "--statistics"), "is valid", ""),
    "validate, json": (("validate", "git", "--format", "json"), r"\A\{", ""),
    "render": (("render", "git/manifest.yaml"), r"warning\[hardware-unconfirmed\]", r"files, \d+ changed\."),
    "render, out of date": (("render", "git", "--check", "-o", "none"), "README.md: missing", ""),
    "diff": (("diff", "git/manifest.yaml", "git/longer.yaml"), r"Plan: 1 file to change\.", ""),
    "plan": (("plan", "git", "--against", "git/longer.yaml"), r"Plan: 1 file to change\.", ""),
    "plan, saved": (("plan", "--out", "p.json"), r"Plan: |no change", "p.json: saved. Next: clustergen apply"),
    "apply": (("apply", "git"), "", "there is no terminal to confirm at"),
    "verify": (("verify", "tree", "--only", "tree"), r"passed .*\n.*tree: 1 passed\.", ""),
    "lint": (("lint", "conf"), r"error\[slurm-key-unknown\]", "read as Slurm"),
    "lint, clean": (("lint", "clean", "--slurm-version", "24.11"), "no findings", "read as Slurm"),
    "import": (("import", "clean"), "^name: c$", "the same meaning"),
    "import, written": (("import", "clean", "-o", "out/manifest.yaml"), "the same meaning", "written. Next"),
    "adopt": (("adopt", "clean", "-o", "adopted"), "no daemon restarts", "written. Next: clustergen adopt --next"),
    "adopt, next": (("adopt", "--next", "git"), "All areas are managed", ""),
    "explain": (("explain", "key-unknown"), "# key-unknown", ""),
    "catalogue": (("catalogue", "systems"), "dgx-h100", ""),
    "features": (("features",), "logs", ""),
    "schema": (("schema",), r"\A\{", ""),
    "resolve": (("resolve", "git"), r"\Acluster_version: 1\n", ""),
    "completion": (("completion", "bash"), "clustergen", ""),
    "lab": (("lab", "list"), "", ""),
    "discover": (("discover", "--script"), r"\A#!/bin/sh", ""),
    "drift": (("drift", "git", "--facts", "conf"), "", "no facts of any node in this directory"),
    "fabric": (("fabric", "check", "git", "conf"), "", "no HOST.json in this directory"),
    "facility": (("facility", "compare", "git", "git/longer.yaml"), "^GPUs +", ""),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directories of `STREAMS`."""
    directory = tmp_path_factory.mktemp("streams")
    text = MANIFEST_TEXT
    for name in ("git", "conf", "clean", "out"):
        (directory / name).mkdir()
    (directory / "git/manifest.yaml").write_text(text)
    (directory / "git/longer.yaml").write_text(text.replace(*LONGER))
    (directory / "manifest.yaml").write_text(text)
    (directory / "conf/slurm.conf").write_text(CONF)
    (directory / "clean/slurm.conf").write_text(CLEAN)
    git(directory, "init", "-q")
    git(directory, "add", "manifest.yaml")
    git(directory, "commit", "-qm", "one")
    assert run("render", directory / "git/manifest.yaml", "-o", directory / "tree").exit_code == 0
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("verb", STREAMS)
def test_reports_are_on_stdout_and_deeds_on_stderr(verb: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, stdout, stderr = STREAMS[verb]
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))  # no labs of other tests
    done = run(*words)
    shown = done.stderr + (f"clustergen: {done.exception}" if isinstance(done.exception, ClustergenError) else "")
    assert re.search(stdout, done.stdout, re.MULTILINE | re.DOTALL) if stdout else done.stdout == ""
    assert re.search(stderr, shown, re.MULTILINE) if stderr else shown == ""


def test_the_table_of_streams_has_every_verb() -> None:
    """`setup` needs a network and root, and prints progress alone."""
    names = {name.partition(" ")[0] for name, _ in verbs(group, click.Context(group))}
    assert {name.partition(",")[0] for name in STREAMS} == names - {"setup", "proof"}


@pytest.mark.parametrize("words", [("-q", "lint"), ("lint", "-q"), ("lint", "--quiet")])
def test_quiet_prints_findings_alone(words: tuple[str, ...], conf: Path) -> None:
    done = run(*words, conf)
    assert done.stderr == ""
    assert "error[slurm-key-unknown]" in done.stdout
    assert " errors" not in done.stdout
    assert "warnings" not in done.stdout


@pytest.mark.slow
def test_quiet_prints_nothing_where_nothing_is_wrong(tmp_path: Path) -> None:
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
