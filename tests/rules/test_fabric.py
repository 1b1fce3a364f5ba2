"""The fabric: cablings that exist in practice have no finding; a mistake is reported once."""

from __future__ import annotations

import pytest

from strategies.fabrics import RIGHT, TWO_LEAVES, fabric, nics, partitions
from strategies.findings import TINY, changed, findings, reviewed_findings

WRONG = {
    "a misspelt spine is not an island too": (
        fabric(TWO_LEAVES.replace('"gpu[3-4]", uplinks: [{to: spine1', '"gpu[3-4]", uplinks: [{to: spien1')),
        [("switch-unknown", "spien1")],
    ),
    "one of two spines": (
        fabric(TWO_LEAVES.replace('"gpu[3-4]", uplinks: [{to: spine1', '"gpu[3-4]", uplinks: [{to: "spine1,spine2"')),
        [("switch-unknown", "spine2")],
    ),
    "two leaves in one entry, for nodes with one port": (
        fabric('{name: "leaf[1-2]", nodes: "gpu[1-4]"}', text=nics(1)),
        [("node-on-two-leaves", "gpu[1-4]")],
    ),
    "a switch above itself": (
        fabric('{name: leaf1, nodes: "gpu[1-4]", uplinks: [{to: leaf1}]}'),
        [("switch-cycle", "[{to: leaf1}]")],
    ),
    "a circle of spines": (
        fabric(
            '{name: leaf1, nodes: "gpu[1-4]", uplinks: [{to: s1}]}\n'
            "{name: s1, uplinks: [{to: s2}]}\n"
            "{name: s2, uplinks: [{to: s1}]}"
        ),
        [("switch-cycle", "[{to: s2}]")],
    ),
    "a node on more leaves than it has ports": (
        nics(1, fabric(TWO_LEAVES.replace("gpu[3-4]", "gpu[2-4]"))),
        [("node-on-two-leaves", "gpu[2-4]")],
    ),
    "the pods of two rails share a node": (
        nics(
            2,
            fabric(
                '{name: "a[0-1]", nodes: "gpu[1-2]", uplinks: [{to: s}]}\n'
                '{name: "b[0-1]", nodes: "gpu[2-4]", uplinks: [{to: s}]}\n'
                "{name: s}"
            ),
        ),
        [("node-on-two-leaves", "gpu[2-4]")],
    ),
    "cables to a spine are not split": (
        changed(
            nics(
                1,
                fabric(
                    '{name: leaf1, model: qm8700, nodes: "gpu[1-60]", uplinks: [{to: spine1, links: 20}]}\n'
                    "{name: spine1}",
                    rate="HDR100",
                ),
                "cx6",
            ),
            ("gpu[1-4]", "gpu[1-60]"),
            ("[11-14]", "[11-70]"),
        ),
        [("switch-ports", "leaf1")],
    ),
    "a spine with too few ports": (
        fabric(
            TWO_LEAVES.replace("{to: spine1}", "{to: spine1, links: 21}").replace(
                "{name: spine1", "{name: spine1, model: qm8700"
            ),
            rate="HDR",
        ),
        [("switch-ports", "spine1")],
    ),
    "several leaves with too few ports": (
        changed(
            fabric('{name: "leaf[1-2]", model: qm9700, nodes: "gpu[1-70]"}'),
            ("gpu[1-4]", "gpu[1-70]"),
            ("[11-14]", "[11-80]"),
        ),
        [("switch-ports", '"leaf[1-2]"')],
    ),
    "a leaf without its last node": (
        fabric('{name: leaf1, nodes: "gpu[1-3]"}'),
        [("node-without-switch", "gpu[1-4]")],
    ),
    "islands in one partition": (
        partitions(
            '    all: {nodes: "gpu[1-4]", default: true}\n    new: {nodes: "gpu[3-4]"}\n',
            fabric('{name: leaf1, nodes: "gpu[1-2]"}\n{name: leaf2, nodes: "gpu[3-4]"}'),
        ),
        [("topology-not-joined", "leaf2")],
    ),
    "a rate without its second": (
        fabric('{name: leaf1, nodes: "gpu[1-4]"}', rate="400Gb"),
        [("rate-malformed", "400Gb")],
    ),
    "a rate of a network without GPUs": (
        changed(TINY, ("/24}", "/24, rate: fast}")),
        [("rate-malformed", "fast")],
    ),
    "the rate of a switch that the site describes": (
        changed(
            fabric('{name: leaf1, model: acme-ib, nodes: "gpu[1-4]"}'),
            ("slurm: {", "catalogue: {switches: {acme-ib: {ports: 64, rate: NRD, fabric: infiniband}}}\nslurm: {"),
        ),
        [("rate-malformed", "NRD")],
    ),
    "a subnet manager on Ethernet": (
        changed(
            fabric('{name: leaf1, nodes: "gpu[1-4]"}', kind="roce", rate="400GbE"),
            ("[slurm-controller]", "[slurm-controller, subnet-manager]"),
        ),
        [("subnet-manager-useless", "subnet-manager")],
    ),
    "nobody manages the fabric": (
        fabric('{name: leaf1, nodes: "gpu[1-4]"}', more="    subnet_manager: {where: node}\n"),
        [("subnet-manager-missing", "node")],
    ),
    "a head node in a block": (
        changed(
            TINY,
            ('{version: "24.11"}', '{version: "24.11", topology: {plugin: block, blocks: {r1: "gpu[1-4],head"}}}'),
        ),
        [("block-node-unknown", "head")],
    ),
    "blocks in a Slurm that has none": (
        changed(
            TINY, ('{version: "24.11"}', '{version: "23.02", topology: {plugin: block, blocks: {r1: "gpu[1-4]"}}}')
        ),
        [("topology-too-new", "block")],
    ),
    "lines of blocks for a tree": (
        changed(
            TINY,
            (
                '{version: "24.11"}',
                '{version: "24.11", topology: {plugin: tree, lines: [{BlockName: b, Nodes: "gpu[1-4]"}]}}',
            ),
        ),
        [("topology-without-switches", "lines")],
    ),
    "lines of switches for blocks": (
        changed(
            TINY,
            (
                '{version: "24.11"}',
                '{version: "24.11", topology: {plugin: block, lines: [{SwitchName: s, Nodes: "gpu[1-4]"}]}}',
            ),
        ),
        [("topology-blocks-missing", "lines")],
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_manifests_have_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert reviewed_findings("fabric", name, text) == expected
