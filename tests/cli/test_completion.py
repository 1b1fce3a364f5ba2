"""Completion, requested as bash, zsh and fish do: by COMP_WORDS, for the word at the cursor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from clustergen.cli import group


def completed(*words: str) -> dict[str, str | None]:
    """Completions of the last of `words` → their descriptions; a file's name stands for all files."""
    items = BashComplete(group, {}, "clustergen", "_CLUSTERGEN_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return {"<file>" if item.type == "file" else item.value: item.help for item in items}


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "inv"),
        ("render", "inv"),
        ("diff", "inv"),
        ("explain", "./inv"),
        ("lab", "up", "inv"),
        ("fabric", "check", "inv"),
        ("facility", "compare", "inv"),
        ("drift", "inv"),
    ],
)
def test_files(words: tuple[str, ...]) -> None:
    assert list(completed(*words)) == ["<file>"]


@pytest.mark.parametrize(
    ("words", "name", "described"),
    [
        (("cata",), "catalogue", "systems"),
        (("setup", "n"), "nccl", "names"),
        (("explain", "system-u"), "system-unknown", "not in the catalogue"),
        (("explain", "slurm.partitions.max_t"), "slurm.partitions.max_time", ""),
        (("explain", "manifest.yaml", "slurm.partitions.max_t"), "slurm.partitions.max_time", ""),
        (("verify", "--only", "systemd-u"), "systemd-units", "units"),
        (("verify", "--only", "slurm,systemd-u"), "slurm,systemd-units", "units"),
        (("catalogue", "sys"), "systems", "servers"),
        (("catalogue", "systems", "dgx-h1"), "dgx-h100", "DGX H100"),
        (("catalogue", "switches", "sn56"), "sn5600", "SN5600"),
        (("lint", "--slurm-version", "24.1"), "24.11", "Slurm 24.11"),
        (("import", "--slurm-version", "24.1"), "24.11", "Slurm 24.11"),
        (("lab", "up", "--os", "debian-13"), "debian-13", "trixie"),
        (("lint", "--ignore", "slurm-key-u"), "slurm-key-unknown", "unknown Slurm key"),
        (("validate", "--select", "gpu-unknown,system-u"), "gpu-unknown,system-unknown", "not in the catalogue"),
        (("setup", "parsers", "book"), "bookworm", ""),
        (("fabric", "c"), "check", "Compare"),
        (("fabric", "check", "--ignore", "cable-u"), "cable-unplanned", "not in the plan"),
        (("drift", "--ignore", "slurm,gpu-mi"), "slurm,gpu-missing", "fell off"),
        (("completion", "z"), "zsh", ""),
    ],
)
def test_names_with_their_descriptions(words: tuple[str, ...], name: str, described: str) -> None:
    completions = completed(*words)
    assert name in completions
    assert all(candidate.startswith(words[-1]) for candidate in completions)
    assert described in (completions[name] or "")


@pytest.mark.parametrize("words", [("zz",), ("catalogue", "systems", "zz"), ("verify", "--only", "zz")])
def test_nothing_fits(words: tuple[str, ...]) -> None:
    assert completed(*words) == {}


def test_no_completion_has_a_blank_that_the_shell_would_split() -> None:
    for words in (("explain", ""), ("verify", "--only", ""), ("catalogue", "mig", "")):
        assert not [name for name in completed(*words) if " " in name]


def test_a_completed_check_is_a_check() -> None:
    name = next(name for name in completed("verify", "--only", "systemd-"))
    done = CliRunner().invoke(group, ["verify", "--only", name, "nowhere"])
    assert "no check is called" not in done.output
    assert done.exit_code != 2


def test_the_verb_of_maintainers_is_not_offered() -> None:
    assert "proof" not in completed("")
    assert "proof" not in CliRunner().invoke(group, ["--help"]).stdout
    assert CliRunner().invoke(group, ["proof", "--help"]).exit_code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_valid(shell: str) -> None:
    done = CliRunner().invoke(group, ["completion", shell])
    assert done.exit_code == 0
    assert f"_CLUSTERGEN_COMPLETE={shell}_complete" in done.stdout
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=done.stdout, text=True, check=True, timeout=300)


@pytest.mark.slow
def test_bash_gets_its_words() -> None:
    """The whole way: the environment that the script sets, and a process."""
    environment = {**os.environ, "_CLUSTERGEN_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": "clustergen catalogue systems dgx-h1", "COMP_CWORD": "3"}
    command = [sys.executable, "-m", "clustergen"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.stdout.splitlines() == ["plain,dgx-h100"]
