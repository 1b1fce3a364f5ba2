"""The committed trees are what the manifests render to; their manifests carry no finding without an explanation."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.diagnostics.suppressions import apply, not_an_error
from clustergen.render.compare import differences

INVENTORIES = sorted((Path(__file__).resolve().parents[2] / "inventories").iterdir())


@pytest.mark.parametrize("inventory", INVENTORIES, ids=lambda path: path.name)
def test_committed_tree_is_the_rendered_one(inventory: Path) -> None:
    manifest = inventory / "manifest.yaml"
    compiled = compiler.validate(manifest)
    sources = {str(manifest): manifest.read_text(encoding="utf-8")}
    assert apply(compiled.diagnostics, sources, may_suppress=not_an_error)[0] == []
    tree, result = compiler.render(compiled, manifest)
    assert tree is not None, result
    assert result == ()
    left = differences(tree, inventory / "rendered")
    assert not left, f"run `make render`: {left}"
