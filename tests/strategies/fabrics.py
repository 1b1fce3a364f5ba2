"""Cablings that are built, some of them unusual: all are right, and Slurm starts with what is made of them."""

from __future__ import annotations

from strategies.findings import TINY, changed

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
