"""docs/corrections.md matches the trees of the examples that come from guides."""

from __future__ import annotations

import re

import pytest

from clustergen import compile as compiler
from strategies.pages import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "corrections.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| the guide")
]
_SETTING = re.compile(r"`([A-Za-z_]+=[^`]+)`")  # words with a value; names alone are talked of


@pytest.fixture(scope="module")
def settings() -> str:
    """All files for nodes of the examples that come from guides, without comments; every setting between blanks, also
    those of JSON files.
    """
    lines = []
    for path in sorted((ROOT / "inventories").glob("*/manifest.yaml")):
        if path.parent.name == "superpod-h100":  # NVIDIA's reference architecture
            continue
        tree, result = compiler.render(compiler.validate(path), path)
        assert tree is not None, result
        for file in tree:
            if file.group is not None:
                lines += [re.sub(r"(^| )#.*", "", line) for line in file.content.decode().splitlines()]
    lines = [re.sub(r'"(\w+)": "([^"]*)",?$', r"\1=\2", line) for line in lines]
    return f" {' '.join(' '.join(lines).split())} "


def test_the_page_has_rows() -> None:
    assert len(ROWS) > 50
    assert all(len(row) == 3 for row in ROWS), [row for row in ROWS if len(row) != 3]


def has(settings: str, value: str) -> bool:
    """True if a setting stands there as a whole; Lustre's have a path before them, and shells quote what they must."""
    return re.search(rf"[ .']{re.escape(value)}[ ']", settings) is not None


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_value_of_ours_is_in_a_tree(row: list[str], settings: str) -> None:
    assert [value for value in _SETTING.findall(row[1]) if not has(settings, value)] == []


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_value_of_the_guide_is_in_none(row: list[str], settings: str) -> None:
    assert [value for value in _SETTING.findall(row[0]) if has(settings, value)] == []
