"""The guides are correct: their manifests are valid, their commands exist, their sessions print what they show."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.diagnostics import CODES, Severity
from clustergen.manifest.source import load
from strategies.pages import BASE, ROOT, Block, agrees, anchors, blocks, links, pages, session_output, steps
from strategies.tables import filled

PAGES = pages()
WHOLE = [block for page in PAGES for block in blocks(page, "yaml", "manifest")]
FRAGMENTS = [block for page in PAGES for block in blocks(page, "yaml", "fragment")]
WRONG = [block for page in PAGES for block in blocks(page, "yaml", "wrong")]
CONSOLES = [block for page in PAGES for block in blocks(page, "console")]
WITH_REAL_PROGRAMS = (pytest.mark.real, pytest.mark.slow)
SESSIONS = [
    pytest.param(page, marks=WITH_REAL_PROGRAMS if blocks(page, "console", "session", "real") else (), id=page.name)
    for page in PAGES
    if blocks(page, "console", "session")
]


def data(text: str, directory: Path) -> Any:
    """Data of YAML text, read by the loader of manifests."""
    path = directory / "part.yaml"
    path.write_text(text, encoding="utf-8")
    source = load(path)
    assert not source.diagnostics, source.diagnostics
    return source.data


def merged(below: Any, above: Any) -> Any:
    """Sections of a fragment in the base: mappings key by key, all else in its place."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}
    return above


def compiled_with(fragment: Block, directory: Path) -> compiler.Compiled:
    base = blocks(BASE, "yaml", "manifest")[0]
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(merged(data(base.text, directory), data(fragment.text, directory))), encoding="utf-8")
    return compiler.validate(path)


@pytest.mark.parametrize("block", WHOLE, ids=str)
def test_a_whole_manifest_is_valid_without_messages_and_renders(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(block.text, encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.diagnostics == ()
    tree, result = compiler.render(compiled, path)
    assert tree is not None, result


@pytest.mark.many
@pytest.mark.parametrize("block", FRAGMENTS, ids=str)
def test_a_fragment_is_valid_in_the_manifest_of_the_first_guide(block: Block, tmp_path: Path) -> None:
    compiled = compiled_with(block, tmp_path)
    assert [item for item in compiled.diagnostics if item.severity is Severity.ERROR] == []
    tree, result = compiler.render(compiled, tmp_path / "manifest.yaml")
    assert tree is not None, result


@pytest.mark.parametrize("block", WRONG, ids=str)
def test_a_wrong_fragment_gets_the_diagnostic_that_the_page_names(block: Block, tmp_path: Path) -> None:
    code = block.words[2]
    assert code in CODES
    assert code in [item.code for item in compiled_with(block, tmp_path).diagnostics]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_block_says_what_it_is_for(page: Path) -> None:
    for block in blocks(page):
        assert block.words, f"{block}: a fence without a language"
        if block.words[0] == "yaml" and block.file is None:
            assert block.words[1:2] in (("manifest",), ("fragment",), ("wrong",), ("ci",), ("system",)), block


def words_of(command: str) -> list[str]:
    """The words of a `clustergen` command up to the shell's next sign; none where it is another program."""
    words = shlex.split(command, comments=True)
    end = next((place for place, word in enumerate(words) if word in ("|", ">", "||", "&&", ";")), None)
    return words[1:end] if words[:1] == ["clustergen"] else []


@pytest.mark.parametrize("block", CONSOLES, ids=str)
def test_commands_and_their_options_exist(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "inventories/home-3090")  # with a manifest.yaml and its tree, which are defaults
    for step in steps(block.text):
        words = words_of(step.command)
        if not words or "--help" in words:
            continue
        with click.Context(group, info_name="clustergen") as context:
            name, verb, rest = group.resolve_command(context, words)  # type: ignore[attr-defined]
            verb.make_context(name, list(rest), parent=context)  # raises for what the verb does not take


@pytest.mark.slow
@pytest.mark.parametrize("page", SESSIONS)
def test_a_session_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for block, printed in session_output(page, tmp_path).items():
        for step, output in zip(steps(block.text), printed, strict=True):
            assert agrees(step.output, output), f"{block}: $ {step.command}\n{output}\ntools/update-docs rewrites pages"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link}: there is no {target.relative_to(ROOT)}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: no such heading"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("in … s\n", "in 1.2 s\n", True),
        ("in … s\n", "in 1\n2 s\n", False),
        ("a\n…\nz\n", "a\nb\nc\nz\n", True),
        ("a\n…\nz\n", "a\nb\nc\n", False),
        ("a\n", "a\nb\n", False),
        ("a …     b\n", "a 1.2.3  b\n", True),
        ("a  b\n", "a b\n", False),
        ("  a\n", "    a\n", False),
    ],
)
def test_omissions_of_a_page(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_of_the_catalogue_are_the_catalogues(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text, "tools/update-docs fills them"
