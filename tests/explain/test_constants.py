"""What `clustergen explain` calls a constant is one: the line is the same in the trees of other manifests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.explain.lines import explain
from clustergen.render.tree import RenderedFile, Tree
from strategies import service_manifests, slurm_manifests
from strategies.pages import ROOT

INVENTORIES = sorted((ROOT / "inventories").glob("*/manifest.yaml"))
_KEY = re.compile(r"\s*([\w./-]+)\s*[=:]")
_MOST = 5  # lines of a file

# Lines that only several values make together: a file system, and a node that serves it.
_BY_SEVERAL = {"cluster_disks", "cluster_exports"}


def keyed(file: RenderedFile) -> Iterator[tuple[int, str, str]]:
    """Number, key and text of the lines that have a key which the file has once."""
    lines = list(enumerate(file.content.decode().splitlines(), 1))
    keys = {number: found[1] for number, text in lines if (found := _KEY.match(text))}
    once = Counter(keys.values())
    for number, text in lines:
        if number in keys and once[keys[number]] == 1 and keys[number] not in _BY_SEVERAL:
            yield number, keys[number], text.strip()


@pytest.fixture(scope="module")
def trees() -> dict[Path, tuple[compiler.Compiled, Tree]]:
    made = {}
    for path in INVENTORIES:
        compiled = compiler.validate(path)
        tree, _ = compiler.render(compiled, path)
        assert tree is not None
        made[path] = compiled, tree
    return made


@pytest.fixture(scope="module")
def said(trees: dict[Path, tuple[compiler.Compiled, Tree]]) -> dict[str, list[dict[str, set[str]]]]:
    """Path in the tree → for each manifest that has the file, key → its lines."""
    others = [tree for _, tree in trees.values()]
    for text in (*service_manifests.RIGHT.values(), *slurm_manifests.RIGHT.values()):
        if made := compiler.tree_of(yaml.safe_load(text), "manifest.yaml"):  # else it is of a form that YAML 1.1 alters
            others.append(made[1])
    assert len(others) > 50
    found: dict[str, list[dict[str, set[str]]]] = {}
    for tree in others:
        for file in tree:
            lines: dict[str, set[str]] = {}
            for _, key, text in keyed(file):
                lines.setdefault(key, set()).add(text)
            found.setdefault(file.path, []).append(lines)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: path.parent.name)
def test_a_line_that_differs_between_manifests_is_no_constant(
    path: Path,
    trees: dict[Path, tuple[compiler.Compiled, Tree]],
    said: dict[str, list[dict[str, set[str]]]],
) -> None:
    compiled, tree = trees[path]
    wrong, asked = [], 0
    for file in tree:
        differ = [
            number
            for number, key, text in keyed(file)
            if any(key in other and text not in other[key] for other in said[file.path])
        ]
        few = differ[:: len(differ) // _MOST + 1]
        if few:
            asked += len(few)
            lines = explain(compiled, tree, file, path.parent, few).lines
            wrong += [f"{file.path}:{line.number} {line.text}" for line in lines if line.constant]
    assert asked > 20
    assert not wrong, "\n".join(wrong)
