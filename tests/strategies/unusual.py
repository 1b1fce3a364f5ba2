"""Clusters with unusual options, compiled once per process, and commands in a terminal of a fixed width."""

from __future__ import annotations

from collections.abc import Iterator

from click.testing import CliRunner

from clustergen.cli import group
from clustergen.compile import Compiled
from clustergen.render.tree import Tree
from strategies.inventories import compiled_at
from strategies.pages import ROOT

FIXTURES = ROOT / "tests" / "fixtures"
MANIFESTS = {path.stem: path for name in ("fields", "verify") for path in sorted((FIXTURES / name).glob("*.yaml"))}
Outputs = Iterator[tuple[str, str | bytes]]


def compiled(name: str) -> tuple[Compiled, Tree]:
    """The compiled manifest of a fixture and its tree."""
    return compiled_at(MANIFESTS[name])


def run(*words: str) -> tuple[str, str]:
    """A command and its output, in a terminal of 100 columns."""
    done = CliRunner().invoke(group, words, env={"COLUMNS": "100"}, catch_exceptions=True)
    code, hint = getattr(done.exception, "exit_code", done.exit_code), getattr(done.exception, "hint", None)
    return " ".join(words), f"{code} {done.exception!r} {hint}\n{done.output}"
