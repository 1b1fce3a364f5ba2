"""Behaviour of releases of Slurm is a row of the catalogue: code outside it names no release."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import clustergen
from clustergen.catalogue import slurm
from clustergen.catalogue.versions import slurm_behaviour

PACKAGE = Path(clustergen.__file__).parent
ROOT = PACKAGE.parents[1]
RELEASE = re.compile(r"2[0-9]\.(02|05|08|11)")
EXEMPT = {
    "explain/samples.py",  # values that a trial writes into a manifest
    "diagnostics/pages.py",  # the release that the pages of lint's codes are run for
}


def sources() -> Iterator[tuple[str, ast.AST]]:
    for directory in (PACKAGE, ROOT / "playbooks"):
        for path in sorted(directory.rglob("*.py")):
            name = str(path.relative_to(directory))
            if not name.startswith("catalogue/") and name not in EXEMPT:
                yield name, ast.parse(path.read_text(encoding="utf-8"))


def names_a_release(node: ast.AST) -> bool:
    """`"24.11"` as a whole text, and `(24, 11)`."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and RELEASE.fullmatch(node.value) is not None
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        numbers = [one.value for one in node.elts if isinstance(one, ast.Constant) and type(one.value) is int]
        return len(numbers) == 2 and RELEASE.fullmatch("{:02d}.{:02d}".format(*numbers)) is not None
    return False


@pytest.mark.slow
def test_releases_are_named_in_the_catalogue_only() -> None:
    named = [
        f"{name}:{node.lineno}"
        for name, tree in sources()
        for node in ast.walk(tree)
        if names_a_release(node) and isinstance(node, ast.expr)
    ]
    assert named == []


@pytest.mark.slow
def test_every_behaviour_is_asked_for() -> None:
    texts = {node.value for _, tree in sources() for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip
    parts = {f"topology-{kind}" for kind in ("yaml", "ring", "torus3d")}  # put together by lint/topology_yaml.py
    assert [name for name in slurm_behaviour() if name not in texts | parts] == []


def test_bounds_are_releases_in_order() -> None:
    releases = set(slurm.releases())
    for name, (since, until) in slurm_behaviour().items():
        assert since is not None or until is not None, name
        assert {since, until} - {None} <= releases, name
        assert since is None or until is None or since < until, name
