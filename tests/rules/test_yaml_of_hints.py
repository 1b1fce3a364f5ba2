"""YAML that hints tell a user to write: it loads, and its keys are fields of the manifest."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import yaml

import clustergen
from clustergen.catalogue.other_names import OtherName
from clustergen.catalogue.tables import table
from clustergen.compile import validate
from clustergen.explain.about import field_names
from clustergen.manifest.base import Section
from clustergen.manifest.model import Manifest
from clustergen.manifest.slurm import Slurm
from strategies.trees import manifest

HOME = Path(clustergen.__file__).parent
OTHER_FORMATS = ("lint", "slurmconf", "importer")  # their hints show Slurm's own YAML
START = re.compile(r"(?:^|[ (])((?:write|add|set|as|with|or) )([\w.<>]+): ?(?=[\[{])")
PLACEHOLDERS = {"x", "<name>"}


def texts_of(path: Path) -> Iterator[str]:
    """The string literals of a module; `x` where a formatted one has a value."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def snippets(text: str) -> Iterator[tuple[str, str]]:
    """The path and the YAML value, up to the bracket that closes it."""
    for match in START.finditer(text):
        depth = 0
        for end, char in enumerate(text[match.end() :], match.end()):
            depth += (char in "[{") - (char in "]}")
            if depth == 0:
                yield match[2], text[match.end() : end + 1]
                break


def all_snippets() -> list[tuple[str, str]]:
    """Of all modules, which takes seconds."""
    modules = (path for path in HOME.rglob("*.py") if path.relative_to(HOME).parts[0] not in OTHER_FORMATS)
    texts = [text for path in modules for text in texts_of(path)]
    texts += [row.hint for row in table("other_names.tsv", OtherName)]
    return sorted({snippet for text in texts for snippet in snippets(text)})


def sections(kind: type[Section] = Section) -> Iterator[type[Section]]:
    for model in kind.__subclasses__():
        yield model
        yield from sections(model)


def holds_names(kind: Any) -> bool:
    return get_origin(kind) is dict or any(holds_names(part) for part in get_args(kind))


FIELDS = {part for path, _ in field_names() for part in path.split(".")}
EXAMPLES = {
    (*path, name): field
    for path, model in (((), Manifest), (("slurm",), Slurm))
    for name, field in model.model_fields.items()
    if field.examples
}
OF_NAMES = {name for model in sections() for name, field in model.model_fields.items() if holds_names(field.annotation)}


def unknown_keys(value: Any, below: str) -> list[str]:
    if isinstance(value, list):
        return [key for part in value for key in unknown_keys(part, below)]
    if not isinstance(value, dict):
        return []
    all_names = FIELDS | PLACEHOLDERS | {"NAME"}
    unknown = [] if below in OF_NAMES else [key for key in value if key not in all_names]
    return unknown + [key for name, part in value.items() for key in unknown_keys(part, name)]


@pytest.mark.slow
def test_the_yaml_of_hints_has_known_keys() -> None:
    hints = all_snippets()
    assert len(hints) > 30
    assert ("slurm", "{preemption: {by: qos}}") in hints
    assert unknown_keys({"premption": {"by": "qos"}}, "slurm") == ["premption"]
    for path, value in hints:
        parts = path.split(".")
        assert [part for part in parts if part not in FIELDS | PLACEHOLDERS] == [], path
        assert unknown_keys(yaml.safe_load(value), parts[-1]) == [], (path, value)


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_empty_section_gets_an_example_that_is_accepted(path: tuple[str, ...], tmp_path: Path) -> None:
    def hints(value: Any) -> list[str | None]:
        data = manifest()
        (data[path[0]] if path[1:] else data)[path[-1]] = value
        file = tmp_path / "manifest.yaml"
        file.write_text(yaml.safe_dump(data), encoding="utf-8")
        return [item.hint for item in validate(file).diagnostics if item.code in ("type-wrong", "key-missing")]

    (hint,) = hints(None)
    example = re.match(rf"write {path[-1]}: ([\[{{].*[\]}}])(, or remove the line)?$", hint or "")
    assert example is not None
    assert bool(example[2]) is not EXAMPLES[path].is_required()
    assert hints(yaml.safe_load(example[1])) == []
