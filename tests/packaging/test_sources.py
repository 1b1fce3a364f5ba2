"""The source keeps what CONTRIBUTING.md and docs/architecture.md promise of it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
REFUSED = {
    *("found", "told", "said", "says", "written", "wanted", "given", "known", "own", "those", "here", "there"),
    *("was", "now", "near", "gone", "come", "crowd", "everybody", "quiet", "loud"),
}
"""No name for a value or a function: they do not say what it is."""


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every variable, parameter, attribute, function and alias that a module binds."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((node.lineno, each.asname) for each in names if each.asname)


def modules(*roots: str) -> list[Path]:
    return [path for root in roots or ("generator", "playbooks") for path in sorted((CHECKOUT / root).rglob("*.py"))]


def programs() -> list[Path]:
    """Those of tools/, whose names have no suffix."""
    files = [path for path in sorted((CHECKOUT / "tools").iterdir()) if path.is_file() and not path.suffix]
    return [path for path in files if path.read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n")]


def test_names_say_what_the_value_is() -> None:
    refused = [
        f"{path.relative_to(CHECKOUT)}:{line}: {name}"
        for path in [*modules("generator", "playbooks", "tests", "tools", "benchmarks"), *programs()]
        for line, name in bindings(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_").lower() in REFUSED
    ]
    assert not refused, "\n".join(refused)


def test_a_module_is_short_enough_to_have_one_topic() -> None:
    page = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (limit,) = map(int, re.findall(r"at most (\d+) lines", page))
    lengths = {path.relative_to(CHECKOUT): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    too_long = [f"{path}: {length} lines" for path, length in lengths.items() if length > limit]
    assert not too_long, "\n".join(too_long)


def test_the_layers_of_the_guide_are_those_that_the_linter_holds() -> None:
    page = (CHECKOUT / "docs/architecture.md").read_text(encoding="utf-8")
    (drawn,) = re.findall(r"^```text layers\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = (contract["layers"] for contract in contracts["contracts"] if contract["id"] == "layers")
    assert drawn.split("\n")[:-1] == layers


def test_the_guide_lists_what_playbooks_may_import() -> None:
    page = (CHECKOUT / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.partition("### API for the playbooks")[2].partition("\n## ")[0]
    declared = set()
    for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE):
        first, *others = re.findall(r"`([a-z_.]+)`", row)
        declared |= {first, *(first.rpartition(".")[0] + other for other in others)}
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (one for one in contracts["contracts"] if one["id"] == "playbooks")
    assert declared == {line.partition(" -> ")[2] for line in contract["ignore_imports"]}


def test_messages_name_nothing_that_only_a_checkout_has() -> None:
    """A wheel has neither tools/ nor guides; `clustergen explain` and `clustergen setup` are there for everybody."""
    named = [
        f"{path.relative_to(CHECKOUT)}:{node.lineno}: {match[0]}"
        for path in modules()
        for statement in ast.parse(path.read_text(encoding="utf-8")).body[1:]  # but for the module's docstring
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for match in re.finditer(r"\b(?:tools/[a-z-]+|docs/(?!proof)[a-z-]+\.md)", node.value)
    ]
    assert not named, "\n".join(named)


def test_no_file_name_has_a_backslash() -> None:
    """systemd writes `-` of a path as `\\x2d`; Windows cannot check such a file out."""
    assert not list((CHECKOUT / "inventories").rglob("*\\*"))
