"""The fabric: the cablings that are built have no finding, whatever Slurm makes of them; a slip is told once."""

from __future__ import annotations

import pytest

from strategies.findings import TINY, changed, found

MANAGEMENT = "  management: {cidr: 10.0.0.0/24}\n"
RAIL_LEAVES = "".join(
    f'{{name: leaf{rail}, model: qm9700, rail: {rail}, nodes: "gpu[1-4]", uplinks: [{{to: spine1, links: 8}}]}}\n'
    for rail in range(8)
)


def fabric(switches: str, *, rate: str = "NDR", kind: str = "infiniband", more: str = "", text: str = TINY) -> str:
    """The small cluster with a fabric: a line per switch."""
    head = f"  fabric:\n    type: {kind}\n    rate: {rate}\n{more}    switches:\n"
    lines = "".join(f"      - {line}\n" for line in switches.splitlines())
    return changed(text, (MANAGEMENT, MANAGEMENT + head + lines))


def nics(count: int, text: str = TINY, model: str = "cx7") -> str:
    """The cluster with so many ports in each node."""
    ports = ", ".join(f"{{device: mlx5_{index}, model: {model}}}" for index in range(count))
    return changed(text, ("{system: dgx-h100}", f"{{system: dgx-h100, nics: [{ports}]}}"))


def with_cpu_nodes(text: str = TINY, fields: str = "") -> str:
    """Two nodes without GPUs beside the others."""
    return changed(
        text,
        ("nodes:\n  -", f"  epyc: {{cpu: {{cores_per_socket: 64}}, memory: 256GiB{fields}}}\nnodes:\n  -"),
        ('  - {name: "gpu', '  - {name: "cpu[1-2]", type: epyc, address: "10.0.0.[21-22]"}\n  - {name: "gpu'),
    )


def partitions(lines: str, text: str) -> str:
    return changed(text, ('slurm: {version: "24.11"}', f'slurm:\n  version: "24.11"\n  partitions:\n{lines}'))


TWO_LEAVES = """\
{name: leaf1, nodes: "gpu[1-2]", uplinks: [{to: spine1}]}
{name: leaf2, nodes: "gpu[3-4]", uplinks: [{to: spine1}]}
{name: spine1}
"""

RIGHT = {
    "eight rails and a spine": fabric(RAIL_LEAVES + "{name: spine1, model: qm9700}"),
    "eight rails, joined by the nodes alone": fabric(
        "".join(f'{{name: leaf{rail}, rail: {rail}, nodes: "gpu[1-4]"}}\n' for rail in range(8))
    ),
    "the head node on one of the rails": fabric(
        RAIL_LEAVES.replace('rail: 0, nodes: "gpu[1-4]"', 'rail: 0, nodes: "gpu[1-4],head"') + "{name: spine1}"
    ),
    "nodes with two ports on two of eight rails": with_cpu_nodes(
        fabric(
            RAIL_LEAVES.replace('0, nodes: "gpu[1-4]"', '0, nodes: "cpu[1-2],gpu[1-4]"').replace(
                '1, nodes: "gpu[1-4]"', '1, nodes: "cpu[1-2],gpu[1-4]"'
            )
            + "{name: spine1}"
        ),
        ", nics: [{device: mlx5_0}, {device: mlx5_1}]",
    ),
    "two leaves that serve the same nodes": nics(2, fabric('{name: "leaf[1-2]", model: qm9700, nodes: "gpu[1-4]"}')),
    "the same nodes in another order": fabric(
        '{name: leaf1, nodes: "gpu[1-4]"}\n{name: leaf2, nodes: "gpu[3-4],gpu[1-2]"}'
    ),
    "a leaf and spine": fabric(TWO_LEAVES),
    "the head node on the spine": fabric(TWO_LEAVES.replace("{name: spine1}", "{name: spine1, nodes: head}")),
    "a chain of leaves": fabric(
        '{name: leaf1, nodes: "gpu[1-2]", uplinks: [{to: leaf2}]}\n{name: leaf2, nodes: "gpu[3-4]"}'
    ),
    "two spines as one list": fabric(TWO_LEAVES.replace("spine1", '"spine[1-2]"')),
    "names with an underscore": fabric(TWO_LEAVES.replace("leaf", "ib_leaf_")),
    "nodes without a port on no switch": with_cpu_nodes(fabric('{name: leaf1, nodes: "gpu[1-4]"}')),
    "islands with a partition each": partitions(
        '    old: {nodes: "gpu[1-2]", default: true}\n    new: {nodes: "gpu[3-4]"}\n',
        fabric('{name: leaf1, nodes: "gpu[1-2]"}\n{name: leaf2, nodes: "gpu[3-4]"}'),
    ),
    "a slow port in a node that runs no jobs": changed(
        fabric('{name: leaf1, nodes: "gpu[1-4],login1"}'),
        (
            "nodes:\n  -",
            "  login: {cpu: {cores_per_socket: 8}, memory: 8GiB, nics: [{device: mlx5_0, model: cx6}]}\nnodes:\n  -",
        ),
        ('  - {name: "gpu', '  - {name: login1, type: login, address: 10.0.0.2, roles: [login]}\n  - {name: "gpu'),
    ),
    "two nodes to a port by splitter cables": changed(
        nics(1, fabric('{name: leaf1, model: qm8700, nodes: "gpu[1-80]"}', rate="HDR100"), "cx6"),
        ("gpu[1-4]", "gpu[1-80]"),
        ("[11-14]", "[11-90]"),
    ),
    "a rate as a number": fabric('{name: leaf1, model: sn5600, nodes: "gpu[1-4]"}', kind="roce", rate="400Gb/s"),
    "a switch that the site describes": changed(
        fabric('{name: leaf1, model: acme-ib, nodes: "gpu[1-4]"}'),
        ("slurm: {", "catalogue: {switches: {acme-ib: {ports: 64, rate: NDR, fabric: infiniband}}}\nslurm: {"),
    ),
    "a subnet manager on two nodes": changed(
        fabric('{name: leaf1, model: qm9790, nodes: "gpu[1-4]"}', more="    subnet_manager: {where: node}\n"),
        ("[slurm-controller]", "[slurm-controller, subnet-manager]"),
    ),
    "a flat topology with leaves that overlap": changed(
        fabric('{name: leaf1, nodes: "gpu[1-3]"}\n{name: leaf2, nodes: "gpu[3-4]"}'),
        ('{version: "24.11"}', '{version: "24.11", topology: {plugin: flat}}'),
    ),
    "leaves as blocks": changed(
        fabric(TWO_LEAVES), ('{version: "24.11"}', '{version: "24.11", topology: {plugin: block, block_sizes: [2, 4]}}')
    ),
    "blocks with gaps": changed(
        TINY,
        (
            '{version: "24.11"}',
            '{version: "25.05", topology: {plugin: block, block_sizes: [4], blocks: {r1: "gpu[1-3]", r2: gpu4}}}',
        ),
    ),
}

WRONG = {
    "a misspelt spine is not an island too": (
        fabric(TWO_LEAVES.replace('"gpu[3-4]", uplinks: [{to: spine1', '"gpu[3-4]", uplinks: [{to: spien1')),
        [("switch-unknown", "spien1")],
    ),
    "one of two spines": (
        fabric(TWO_LEAVES.replace('"gpu[3-4]", uplinks: [{to: spine1', '"gpu[3-4]", uplinks: [{to: "spine1,spine2"')),
        [("switch-unknown", "spine2")],
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
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_manifests_have_no_finding(name: str) -> None:
    assert found(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_slip_is_told_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert found(text) == expected
