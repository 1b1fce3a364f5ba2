"""The registry of codes, the pages and the sources agree."""

import ast
from itertools import groupby
from pathlib import Path

import pytest

import clustergen
from clustergen.diagnostics import CODES
from clustergen.diagnostics.pages import directory, joined, pages

PACKAGE = Path(clustergen.__file__).parent
# The calls whose first argument is a code; the rest of the sources may hold such words for other reasons.
MAKERS = {"Finding", "of", "PydanticCustomError", "Problem", "Diagnostic"}


@pytest.fixture(scope="module")
def topics() -> dict[str, str]:
    """The files of docs/codes/ by name, without the index."""
    home = directory()
    assert home is not None
    return {path.stem: path.read_text(encoding="utf-8") for path in home.glob("*.md") if path.stem != "README"}


def code_uses() -> dict[str, str]:
    """Codes that the sources make, with one file that does."""
    used: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            first = node.args[0]
            if name in MAKERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                used[first.value] = str(path.relative_to(PACKAGE))
    return used


def texts() -> set[str]:
    """Every text constant of the sources but the registry's own."""
    return {
        node.value
        for path in PACKAGE.rglob("*.py")
        if path.name != "codes.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.slow
def test_every_code_that_the_sources_make_is_registered() -> None:
    used = code_uses()
    assert len(used) > 20, "the search finds nothing any more"
    assert {code: file for code, file in used.items() if code not in CODES} == {}


@pytest.mark.slow
def test_every_registered_code_is_made_somewhere() -> None:
    assert set(CODES) - texts() == set()


def test_every_code_is_in_the_page_of_its_topic_in_the_order_of_the_tables(topics: dict[str, str]) -> None:
    by_topic = groupby(CODES.values(), key=lambda code: code.page)
    listed = {page: [code.code for code in codes] for page, codes in by_topic}
    assert {page: list(pages(text)) for page, text in topics.items()} == listed, "tools/update-code-pages moves them"


def test_a_topic_is_its_pages_and_nothing_else(topics: dict[str, str]) -> None:
    titles = {code.page: code.topic for code in CODES.values()}
    assert {page: joined(titles[page], pages(text).values()) for page, text in topics.items()} == topics


def test_titles_are_one_short_line() -> None:
    for name, code in CODES.items():
        assert code.title[0].isupper(), name
        assert not code.title.endswith("."), name
        assert len(code.title.splitlines()) == 1, name
        assert len(code.title) < 80, name
