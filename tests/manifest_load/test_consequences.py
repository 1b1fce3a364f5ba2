"""One mistake is reported once, with a hint that fixes it; a thousand mistakes end the validation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from clustergen.compile import validate
from clustergen.diagnostics import Severity
from strategies.findings import TINY, changed, findings
from strategies.inventories import MANIFESTS

ENTRY = '  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}\n'


def test_fields_of_a_broken_merge_key_are_not_missing() -> None:
    merged = changed(TINY, (ENTRY, ENTRY.replace("- {", "- &n {") + "  - {<<: *n, name: x}\n"))
    assert findings(merged) == [("yaml-merge-key", "<<")]


def test_keys_that_other_mappings_lack_are_missed() -> None:
    merged = changed(TINY, (ENTRY, ENTRY.replace("- {", "- &n {") + "  - {<<: *n}\n  - {type: h100}\n"))
    assert [code for code, _ in findings(merged)] == ["yaml-merge-key", "key-missing"]


def test_a_number_in_quotes_loses_them(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(f'schema_version: "1"\n{TINY}', encoding="utf-8")
    (diagnostic,) = validate(path).diagnostics
    assert diagnostic.code == "type-wrong"
    assert (diagnostic.hint or "").endswith("the quotes: 1")


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("partitions: {p: {nodes: all, max_time: 010}}", "010"),
        ('partitions: {p: {nodes: all, max_time: "010"}}', '"010"'),
        ("scripts: {timeout: 060}", "060"),
        ("priority: {max_age: 007}", "007"),
    ],
)
def test_a_leading_zero_is_refused(field: str, place: str) -> None:
    text = changed(TINY, ('{version: "24.11"}', f'{{version: "24.11", {field}}}'))
    assert findings(text) == [("unit-wrong", place)]


def test_times_with_zeros_in_front_are_times() -> None:
    field = "partitions: {p: {nodes: all, max_time: 01:00:00, default_time: 0}}"
    assert findings(changed(TINY, ('{version: "24.11"}', f'{{version: "24.11", {field}}}'))) == []


@pytest.mark.slow
def test_validation_stops_after_a_thousand_mistakes() -> None:
    text = TINY + "".join(f"unknown{number}: 1\n" for number in range(3000))
    results = findings(text)
    assert results[-1] == ("file-too-large", "unknown1000")
    assert len(results) == 1001


def _scalars(node: yaml.Node) -> Iterator[tuple[yaml.ScalarNode, bool]]:
    """The scalars below a node, and True for those that are keys."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key, True
            yield from _scalars(value)
    elif isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from _scalars(entry)
    else:
        yield node, False


def _misspelt() -> Iterator[pytest.param]:
    """Each example with one name misspelt where it is used: values that are also a key elsewhere."""
    for cluster, path in MANIFESTS.items():
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        scalars = list(_scalars(yaml.compose(text, Loader=yaml.CSafeLoader)))
        keys = {node.value for node, is_key in scalars if is_key}
        for node, is_key in scalars:
            line, at = node.start_mark.line, node.start_mark.index
            if not is_key and node.value in keys and not lines[line].startswith("name: "):
                wrong = text[:at] + text[at:].replace(node.value, f"{node.value}o", 1)
                yield pytest.param(wrong, id=f"{cluster}-{line + 1}-{node.value}")


@pytest.mark.many
@pytest.mark.parametrize("text", list(_misspelt()))
def test_a_misspelt_name_is_one_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    assert len({item.code for item in validate(path).diagnostics if item.severity is Severity.ERROR}) == 1
