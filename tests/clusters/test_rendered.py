"""The committed trees are up to date, and their manifests have no finding without an explanation."""

from __future__ import annotations

import pytest

from clustergen.diagnostics.suppressions import apply, not_an_error
from clustergen.render.compare import differences
from clustergen.render.tree import LOCK
from strategies.inventories import GOLDEN, MANIFESTS, compiled


def is_committed(name: str, path: str) -> bool:
    """The lock file has the hash of each file, so a tree without the others is compared completely, too."""
    return name in GOLDEN or path in (LOCK, "README.md") or path.endswith(".svg")


@pytest.mark.parametrize("name", MANIFESTS)
def test_committed_tree_is_the_rendered_one(name: str) -> None:
    manifest = MANIFESTS[name]
    result, tree = compiled(name)
    sources = {str(manifest): manifest.read_text(encoding="utf-8")}
    assert apply(result.diagnostics, sources, may_suppress=not_an_error)[0] == []
    left = [
        difference
        for difference in differences(tree, manifest.parent / "rendered")
        if difference.kind != "missing" or is_committed(name, difference.path)
    ]
    assert not left, f"run `make render`: {left}"
