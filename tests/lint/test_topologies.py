"""Lint of topology.conf and topology.yaml: code, severity and place of every finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from strategies.lint_reports import HEAD, NODES, PARTITIONS, report, summaries

TREE = HEAD + "TopologyPlugin=topology/tree\n" + NODES + PARTITIONS
BLOCK = HEAD + "TopologyPlugin=topology/block\n" + NODES + PARTITIONS


def test_a_topology_of_two_islands(tmp_path: Path) -> None:
    text = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-4]\n"
    assert summaries(report(tmp_path, slurm_conf=TREE, topology_conf=text)) == [
        "warning topology.conf:2:12 topology-not-joined",
        "warning topology.conf:2:20 node-on-two-leaves",
    ]


CONF_CASES = {
    "a comma too many": (TREE, "SwitchName=a Nodes=n[1-3],,n4,\n", []),
    "a list that nobody reads": (TREE, "SwitchName=a Nodes=n[1-4\n", ["error topology.conf:1:21 hostlist-syntax"]),
    "a block that nobody reads": (
        BLOCK,
        "BlockName=a Nodes=n[1-4\nBlockSizes=4\n",
        ["error topology.conf:1:20 hostlist-syntax"],
    ),
    "a comma in a block": (BLOCK, "BlockName=a Nodes=n[1-4],\nBlockSizes=4\n", []),
    "a size that is none": (
        BLOCK,
        "BlockName=a Nodes=n[1-4]\nBlockSizes=99999999999\n",
        ["error topology.conf:2:12 block-size"],
    ),
}


@pytest.mark.parametrize("name", CONF_CASES)
def test_topology_conf(name: str, tmp_path: Path) -> None:
    slurm_conf, text, expected = CONF_CASES[name]
    assert summaries(report(tmp_path, "26.05", slurm_conf=slurm_conf, topology_conf=text)) == expected


def test_topologies_in_yaml(tmp_path: Path) -> None:
    """Shows "topology-unknown"."""
    slurm_conf = HEAD + NODES + PARTITIONS.strip() + " Topology=rows\n"
    yaml = "- topology: racks\n  cluster_default: true\n  tree:\n    switches: [{switch: s1, nodes: 'n[1-5]'}]\n"
    assert summaries(report(tmp_path, "25.05", slurm_conf=slurm_conf, topology_yaml=yaml)) == [
        "error slurm.conf:6:52 topology-unknown",
        "warning topology.yaml:4:37 switch-node-unknown",
    ]
    result = report(tmp_path, "25.05", slurm_conf=slurm_conf, topology_yaml="- topology: rows\n  tree: [\n")
    assert summaries(result) == ["error topology.yaml:3:1 yaml-syntax"]


YAML = """- topology: racks
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - switch: s1
        nodes: n[1-2]
      - switch: s2
        nodes: n[3-4]
- topology: rails
  block:
    block_sizes: [2, 4]
    blocks:
      - block: b1
        nodes: n[1-2]
      - block: b2
        nodes: n[3-4]
"""
YAML_CASES = {
    "nothing": ("", "", []),
    "a key of no topology": ("cluster_default", "default", ["warning topology.yaml:2:3 key-unknown"]),
    "no name": ("- topology: rails\n  block", "- block", ["warning topology.yaml:11:3 key-missing"]),
    "a name twice": ("rails", "racks", ["warning topology.yaml:11:13 topology-unknown"]),
    "a key of no switch": (
        "switch: s2\n        nodes:",
        "switch: s2\n        node:",
        [
            "warning slurm.conf:5:10 node-without-switch",
            "warning topology.yaml topology-not-joined",
            "warning topology.yaml:9:17 switch-node-unknown",
            "warning topology.yaml:10:9 key-unknown",
        ],
    ),
    "a switch without a name": (
        "- switch: top",
        "- swtch: top",
        [
            "error topology.yaml:5:9 key-missing",
            "warning topology.yaml:5:9 key-unknown",
            "warning topology.yaml:9:17 topology-not-joined",
        ],
    ),
    "a switch twice": (
        "switch: s2",
        "switch: s1",
        [
            "warning slurm.conf:5:10 node-without-switch",
            "warning topology.yaml topology-not-joined",
            "error topology.yaml:6:19 switch-unknown",
            "error topology.yaml:9:17 switch-duplicate",
        ],
    ),
    "a list of nodes": ("nodes: n[1-2]\n      - switch", "nodes: [n1, n2]\n      - switch", None),
    "a circle": ("s[1-2]", "s[1-2],top", ["error topology.yaml:5:17 switch-cycle"]),
    "switches that nobody reads": ("s[1-2]", "s[1-2", ["error topology.yaml:6:20 hostlist-syntax"]),
    "a node in no block": (
        "b2\n        nodes: n[3-4]",
        "b2\n        nodes: n3",
        ["warning slurm.conf:5:10 node-without-block"],
    ),
    "a block twice": (
        "block: b2",
        "block: b1",
        ["warning slurm.conf:5:10 node-without-block", "error topology.yaml:17:16 block-node-twice"],
    ),
    "no blocks": (
        "    blocks:",
        "    bloks:",
        ["error topology.yaml:13:5 topology-blocks-missing", "warning topology.yaml:14:5 key-unknown"],
    ),
    "a size": ("[2, 4]", "[2, 6]", ["error topology.yaml:13:22 block-size"]),
    "a word for a size": ("[2, 4]", "[two, 4]", ["error topology.yaml:13:19 block-size"]),
}


@pytest.mark.parametrize("name", YAML_CASES)
def test_topology_yaml(name: str, tmp_path: Path) -> None:
    old, new, expected = YAML_CASES[name]
    assert old in YAML
    slurm_conf = HEAD + NODES + PARTITIONS
    texts = summaries(
        report(tmp_path, "26.05", slurm_conf=slurm_conf, topology_yaml=YAML.replace(old, new, 1) if old else YAML)
    )
    if expected is None:
        assert "error topology.yaml:8:16 type-wrong" in texts
    else:
        assert texts == expected
