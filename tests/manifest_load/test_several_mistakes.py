"""One run reports what the rules find too, where it is clear what a mistake of the manifest's shape was meant to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen import compile as compiler
from clustergen.cli import group

GOOD = """\
name: tiny
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: cluster.local}
node_types:
  gpu: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}
  - {name: "gpu[1-4]", type: gpu, address: "10.0.0.[11-14]"}
slurm:
  version: "24.11"
  partitions:
    batch: {nodes: "gpu[1-4]", default: true}
"""


def validated(*edits: tuple[str, str]) -> tuple[list[tuple[str, str]], bool]:
    """Code and excerpt of each finding, and whether there may be more."""
    text = GOOD
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    compiled = compiler.validate(Path("m.yaml"), raw=text.encode())
    lines = text.splitlines()
    findings = [
        (one.code, lines[one.place.line - 1][(one.place.column or 1) - 1 : (one.place.end_column or 1) - 1])
        for one in compiled.diagnostics
        if one.place is not None and one.place.line
    ]
    return findings, compiled.is_partial


WRONG_TYPE = ("type: gpu,", "type: gpo,")  # of a rule
WRONG_TYPE_FINDING = ("node-type-unknown", "gpo")


@pytest.mark.parametrize(
    ("edit", "finding"),
    [
        (('version: "24.11"', "version: 24.11"), ("type-wrong", "24.11")),
        (("  partitions:", "  partitons:"), ("key-unknown", "partitons")),
        (('nodes: "gpu[1-4]"', "nodez: all, node: all"), ("key-unknown", "nodez")),
        (("{system: dgx-h100}", "{sytem: dgx-h100, colour: red}"), ("key-unknown", "sytem")),
    ],
    ids=["number for text", "misspelt", "two for one", "misspelt and unknown"],
)
def test_the_rules_run_where_it_is_clear_what_was_meant(edit: tuple[str, str], finding: tuple[str, str]) -> None:
    findings, is_partial = validated(edit, WRONG_TYPE)
    assert finding in findings
    assert WRONG_TYPE_FINDING in findings
    assert not is_partial


def test_findings_of_a_misspelt_section_are_at_its_place() -> None:
    findings, is_partial = validated(("partitions:", "partitons:"), ("default: true", "default: true, qos: gold"))
    assert findings == [("key-unknown", "partitons"), ("accounting-missing", "qos")]
    assert not is_partial


def test_a_missing_key_has_no_further_findings() -> None:
    findings, is_partial = validated(("{system: dgx-h100}", "{hardware: dgx-h100}"), WRONG_TYPE)
    assert ("key-unknown", "hardware") in findings
    assert WRONG_TYPE_FINDING in findings
    assert [code for code, _ in findings if code.startswith(("hardware", "cpu", "key-missing"))] == []
    assert not is_partial


@pytest.mark.parametrize(
    "edit",
    [
        ("os: debian-13", "os: beos"),
        ("name: tiny", "qos: {gold: {}}\nname: tiny"),
        ("name: tiny\n", ""),
        ("roles: [slurm-controller]", "roles: 3"),
    ],
    ids=["value", "top level", "missing", "wrong type"],
)
def test_otherwise_it_says_that_more_checks_follow(edit: tuple[str, str], tmp_path: Path) -> None:
    findings, is_partial = validated(edit, WRONG_TYPE)
    assert findings
    assert WRONG_TYPE_FINDING not in findings
    assert is_partial
    (tmp_path / "manifest.yaml").write_text(GOOD.replace(*edit), encoding="utf-8")
    done = CliRunner().invoke(group, ["validate", str(tmp_path)])
    assert done.stderr == f"{tmp_path / 'manifest.yaml'}: more checks run once these errors are corrected.\n"


WRONG_SYSTEM = ("system: dgx-h100", "system: dgx-h10")


@pytest.mark.parametrize(
    "edits",
    [
        [("os: debian-13", "os: beos")],
        [("name: tiny\n", "")],
        [('version: "24.11"', "version: 24.10")],
        [("roles: [slurm-controller]", "roles: 3"), ("default: true", "default: often")],
        [("{name: head, type: service,", "{name: head,"), ("domain: cluster.local", "domain: 5, mtu: big")],
    ],
    ids=["value", "missing", "number", "wrong types", "an entry that lacks a key"],
)
def test_node_types_are_checked_beside_any_mistake(edits: list[tuple[str, str]]) -> None:
    findings, is_partial = validated(*edits, WRONG_SYSTEM)
    assert ("system-unknown", "dgx-h10") in findings
    assert is_partial


def test_a_removed_value_has_no_findings_on_its_node_type() -> None:
    edit = ("{system: dgx-h100}", "{memory: 5, cpu: {cores_per_socket: 8}}")
    findings, _ = validated(edit)
    assert [code for code, _ in findings] == ["unit-wrong"]


def test_a_mistake_in_the_catalogue_leaves_open_what_it_has() -> None:
    catalogue = ("node_types:", "catalogue: {systems: {own: {cpu: 5}}}\nnode_types:")
    findings, is_partial = validated(catalogue, ("system: dgx-h100", "system: own"))
    assert "system-unknown" not in [code for code, _ in findings]
    assert is_partial
