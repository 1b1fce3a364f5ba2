"""A line that `clustergen explain` calls a constant is the same in the trees of other manifests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from zlib import crc32

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.explain.lines import explain
from clustergen.render.tree import Tree
from strategies import service_manifests, slurm_manifests
from strategies.inventories import MANIFESTS, compiled, paths, texts

_KEY = re.compile(r"\s*([\w./-]+)\s*[=:]")
_MOST = 5  # lines of a file

# Lines that only several values make together: a file system, and a node that serves it.
_BY_SEVERAL = {"cluster_disks", "cluster_exports"}


def keyed(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, key and text of the lines that have a key which the file has once."""
    lines = list(enumerate(text.splitlines(), 1))
    keys = {number: match[1] for number, line in lines if (match := _KEY.match(line))}
    once = Counter(keys.values())
    for number, line in lines:
        if number in keys and once[keys[number]] == 1 and keys[number] not in _BY_SEVERAL:
            yield number, keys[number], line.strip()


def with_keys(name: str) -> list[str]:
    """The files of an inventory that have such a line."""
    return [path for path, text in texts(name).items() if any(keyed(text))]


_LARGE = "superpod-h100"
_MOST_TREES = 1  # of those that have a file


def cases() -> Iterator[tuple[str, str]]:
    """Inventories and files; of the large cluster, whose trials resolve all nodes, only the files that no other has."""
    trees: dict[str, list[str]] = {}
    for name in MANIFESTS:
        for path in paths(name):
            trees.setdefault(path, []).append(name)
    for path, names in trees.items():
        small = [name for name in names if name != _LARGE] or names
        small.sort(key=lambda name: crc32(f"{name} {path}".encode()))
        yield from ((name, path) for name in small[:_MOST_TREES])


ALL = sorted(cases())
CASES = [case if number % 3 == 0 else pytest.param(*case, marks=pytest.mark.long) for number, case in enumerate(ALL)]


@cache
def variants() -> Mapping[str, list[dict[str, set[str]]]]:
    """Path in the tree → for each manifest that has the file, key → its lines."""
    trees: list[Tree] = [compiled(name)[1] for name in MANIFESTS]
    for text in (*service_manifests.RIGHT.values(), *slurm_manifests.RIGHT.values()):
        if made := compiler.tree_of(yaml.safe_load(text), "manifest.yaml"):  # else it is of a form that YAML 1.1 alters
            trees.append(made[1])
    assert len(trees) > 50
    files: dict[str, list[dict[str, set[str]]]] = {}
    for tree in trees:
        for file in tree:
            lines: dict[str, set[str]] = {}
            for _, key, line in keyed(file.content.decode()):
                lines.setdefault(key, set()).add(line)
            files.setdefault(file.path, []).append(lines)
    return files


def differing(name: str, path: str) -> list[int]:
    """Numbers of some lines of a file that another manifest's tree has with another text."""
    others = variants()[path]
    content = compiled(name)[1].files[path].content.decode()
    numbers = [
        number
        for number, key, line in keyed(content)
        if any(key in other and line not in other[key] for other in others)
    ]
    return numbers[:: len(numbers) // _MOST + 1]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(("name", "path"), CASES)
def test_a_line_that_differs_between_manifests_is_no_constant(name: str, path: str) -> None:
    numbers = differing(name, path)
    if not numbers:
        return
    result, tree = compiled(name)
    lines = explain(result, tree, tree.files[path], MANIFESTS[name].parent, numbers).lines
    assert [line.number for line in lines] == numbers
    assert [f"{line.number} {line.text}" for line in lines if line.constant] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIFESTS)
def test_enough_lines_differ(name: str) -> None:
    assert sum(len(differing(name, path)) for path in with_keys(name)) > 20
