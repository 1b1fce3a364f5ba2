"""The committed inventories, compiled once per process, and what their trees have."""

from __future__ import annotations

from functools import cache

from clustergen import compile as compiler
from clustergen.render.tree import Tree
from strategies.pages import ROOT

LOCK_FILE = "clustergen.lock.json"
MANIFESTS = {path.parent.name: path for path in sorted((ROOT / "inventories").glob("*/manifest.yaml"))}
ML_TRAINING = MANIFESTS["ml-training"]


@cache
def compiled(name: str) -> tuple[compiler.Compiled, Tree]:
    """What an inventory's manifest means and its tree; tests only read them."""
    result = compiler.validate(MANIFESTS[name])
    tree, diagnostics = compiler.render(result, MANIFESTS[name])
    assert tree is not None, diagnostics
    return result, tree


@cache
def paths(name: str) -> tuple[str, ...]:
    """The files of an inventory's committed tree by their paths in the tree, without compiling it."""
    rendered = MANIFESTS[name].parent / "rendered"
    return tuple(
        sorted(
            str(path.relative_to(rendered)) for path in rendered.rglob("*") if path.is_file() and path.name != LOCK_FILE
        )
    )
