"""Clusters with unusual options, compiled once per process, and commands in a terminal of a fixed width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from click.testing import CliRunner

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.render.tree import Tree
from strategies.pages import ROOT

FIXTURES = ROOT / "tests" / "fixtures"
MANIFESTS = {path.stem: path for name in ("fields", "verify") for path in sorted((FIXTURES / name).glob("*.yaml"))}
Outputs = Iterator[tuple[str, str | bytes]]


@cache
def compiled(name: str) -> tuple[compiler.Compiled, Tree]:
    result = compiler.validate(MANIFESTS[name])
    tree, diagnostics = compiler.render(result, MANIFESTS[name])
    assert tree is not None, diagnostics
    return result, tree


def run(*words: str) -> tuple[str, str]:
    """A command and its output, in a terminal of 100 columns."""
    done = CliRunner().invoke(group, words, env={"COLUMNS": "100"}, catch_exceptions=True)
    hint = getattr(done.exception, "hint", None)
    return " ".join(words), f"{done.exit_code} {done.exception!r} {hint}\n{done.output}"
