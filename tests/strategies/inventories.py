"""The example clusters in `inventories/`, compiled once per process, and the files of their trees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clustergen import compile as compiler
from clustergen.render.tree import LOCK, Tree
from strategies.pages import ROOT

MANIFESTS = {path.parent.name: path for path in sorted((ROOT / "inventories").glob("*/manifest.yaml"))}
ML_TRAINING = MANIFESTS["ml-training"]
GOLDEN = ("home-3090", "ml-training")
"""Clusters whose whole tree is committed; of the others README.md, the pictures in it and the lock file."""


@cache
def compiled_at(path: Path) -> tuple[compiler.Compiled, Tree]:
    """The compiled manifest at a path and its tree; tests only read them."""
    result = compiler.validate(path)
    tree, diagnostics = compiler.render(result, path)
    assert tree is not None, diagnostics
    return result, tree


def compiled(name: str) -> tuple[compiler.Compiled, Tree]:
    """The compiled manifest of an inventory and its tree."""
    return compiled_at(MANIFESTS[name])


@cache
def paths(name: str) -> tuple[str, ...]:
    """The files of an inventory's tree by their paths in the tree, from its committed lock file."""
    lock = json.loads((MANIFESTS[name].parent / "rendered" / LOCK).read_text(encoding="utf-8"))
    return tuple(sorted(lock["files"]))


def texts(name: str) -> Mapping[str, str]:
    """Path in the tree → text of the file."""
    return {file.path: file.content.decode() for file in compiled(name)[1]}
