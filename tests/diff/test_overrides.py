"""A field that nodes override is named as the manifest has it: the entry and the field, not the node type they get."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.diff.plan import Plan, plan
from clustergen.diff.snapshot import of_tree
from strategies.findings import changed

TEXT = """\
name: small
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, ntp: [10.0.0.2]}
node_types:
  gpu: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}
  - {name: "g[1-4]", type: gpu, address: "10.0.0.[11-14]"}
  - {name: "g[5-6]", type: gpu, address: "10.0.0.[15-16]"}
gpu:
  mig_plans: {slices: {profiles: {1g.10gb: 7}}, half: {profiles: {3g.40gb: 2}}}
slurm: {version: "24.11", partitions: {batch: {nodes: all}}}
"""
PLAIN = '"10.0.0.[15-16]"'


def planned(old: str, new: str) -> Plan:
    """Of the two texts, with these fields of g[5-6]."""
    sides = []
    for name, fields in (("old", old), ("new", new)):
        text = changed(TEXT, (PLAIN, f"{PLAIN}{fields}")) if fields.startswith(",") or not fields else fields
        compiled = compiler.validate(Path(f"{name}.yaml"), raw=text.encode())
        tree, _ = compiler.render(compiled, Path(f"{name}.yaml"))
        assert compiled.cluster is not None
        assert tree is not None
        sides.append(of_tree(name, tree, compiled.cluster, compiled.source))
    return plan(*sides)


SLICES, HALF = ", gpus: {mig: slices}", ", gpus: {mig: half}"
LIMITED = ", gpus: {mig: slices, power_limit: 500W}"
OTHER_BASE = changed(TEXT, ("dgx-h100}", "dgx-h100, weight: 5}"), (PLAIN, f"{PLAIN}{SLICES}"))
JOINED = changed(
    TEXT,
    ("gpu:\n", '  - {name: "g[7-8]", type: gpu, address: "10.0.0.[17-18]", gpus: {mig: half}}\ngpu:\n'),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", SLICES, ["new:10 nodes[g[5-6]].gpus: None → {mig: slices}"]),
        (SLICES, "", ["old:10 nodes[g[5-6]].gpus: {mig: slices} → None"]),
        (SLICES, HALF, ["new:10 nodes[g[5-6]].gpus.mig: slices → half"]),
        (SLICES, LIMITED, ["new:10 nodes[g[5-6]].gpus.power_limit: None → 500W"]),
        (LIMITED, LIMITED.replace("500", "400"), ["new:10 nodes[g[5-6]].gpus.power_limit: 500W → 400W"]),
        (SLICES, OTHER_BASE, ["new:6 node_types.gpu.weight: None → 5"]),
        (
            "",
            JOINED,
            [
                "new:11 nodes[g[7-8]]: None → {name: g[7-8], type: gpu, address: 10.0.0.[17-18], gpus: {mig: half}}",
            ],
        ),
    ],
)
def test_a_field_of_nodes_is_behind_what_it_changes(old: str, new: str, expected: list[str]) -> None:
    change = planned(old, new)
    shown = [
        f"{one.place.file.removesuffix('.yaml')}:{one.place.line} {one.label}: {one.old} → {one.new}"
        for one in change.manifest_changes
        if one.place
    ]
    assert shown == expected
    assert change.changes
    behind = {value for values in change.causes.values() for value in values}
    assert behind <= {*change.manifest_changes}
    assert behind or new == JOINED
    assert not change.untraced


@pytest.mark.slow
def test_the_readme_names_the_type_in_the_manifest() -> None:
    compiled = compiler.validate(Path("new.yaml"), raw=changed(TEXT, (PLAIN, f"{PLAIN}{SLICES}")).encode())
    tree, _ = compiler.render(compiled, Path("new.yaml"))
    assert tree is not None
    (readme,) = (file.content for file in tree if file.path == "README.md")
    assert "| gpu-mig-slices (like gpu) | NVIDIA DGX H100 |" in readme.decode()
