"""Slurm's switches and blocks become the manifest's, where clustergen makes the same file of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.importer.directory import import_directory
from importer.conftest import Imported

_NODES = "NodeName=n[1-8] CPUs=4 RealMemory=4000\nPartitionName=p Nodes=ALL\n"
_CONF = f"ClusterName=c\nSlurmctldHost=head\nSlurmUser=slurm\nTopologyPlugin=topology/%s\n{_NODES}"
_LEAVES = "SwitchName=a1 Nodes=n[1-4]\nSwitchName=a2 Nodes=n[5-8]\n"
_TREE = """
- topology: hall
  cluster_default: true
  tree:
    switches:
      # the oldest
      - switch: a1
        nodes: n[1-4]
      - {switch: a2, nodes: "n[5-8]"}
      - switch: core
        children: a[1-2]
"""
_BLOCKS = """
- topology: hall
  block:
    block_sizes: [4, 8]
    blocks:
      - {block: b1, nodes: "n[1-4]"}
      - {block: b2, nodes: "n[5-8]"}
"""


@pytest.mark.slow
def test_a_chain_longer_than_pythons_stack(imported: Imported) -> None:
    chain = "".join(f"SwitchName=s{number} Switches=s{number - 1}\n" for number in range(1, 1200))
    result, data = imported(slurm_conf=_CONF % "tree", topology_conf=f"SwitchName=s0 Nodes=n[1-8]\n{chain}")
    switches = data["networks"]["fabric"]["switches"]
    assert switches[0] == {"name": "s0", "nodes": "n[1-8]", "uplinks": [{"to": "s1"}]}
    assert [one["name"] for one in switches] == [f"s{number}" for number in range(1200)]
    assert result.same


@pytest.mark.slow
def test_a_tree_becomes_switches_with_uplinks(imported: Imported) -> None:
    tree = "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4] LinkSpeed=100 # noisy\nSwitchName=l3 Nodes=n[5-8]\n"
    above = "SwitchName=core Switches=m[1-2]\nSwitchName=m1 Switches=l[1-2]\nSwitchName=m2 Switches=l3\n"
    result, data = imported(slurm_conf=_CONF % "tree", topology_conf=above + tree)
    assert data["slurm"]["topology"] == {"plugin": "tree"}
    assert data["networks"]["fabric"] == {
        "type": "ethernet",
        "switches": [
            {"name": "l1", "nodes": "n[1-2]", "uplinks": [{"to": "m1"}]},
            {"name": "l2", "nodes": "n[3-4]", "uplinks": [{"to": "m1"}]},
            {"name": "l3", "nodes": "n[5-8]", "uplinks": [{"to": "m2"}]},
            {"name": "m[1-2]", "uplinks": [{"to": "core"}]},
            {"name": "core"},
        ],
    }
    assert "# noisy\n      - {name: l2," in result.text
    assert "# CHECK: topology.conf does not contain the fabric type" in result.text


@pytest.mark.parametrize(("leaf", "feature"), [("ib1", "x"), ("leaf-hdr", "x"), ("rack1", "NDR")])
def test_names_and_features_tell_infiniband(imported: Imported, leaf: str, feature: str) -> None:
    conf = (_CONF % "tree").replace("RealMemory", f"Feature={feature} RealMemory")
    _, data = imported(
        slurm_conf=conf, topology_conf=f"SwitchName={leaf} Nodes=n[1-8]\nSwitchName=top Switches={leaf}\n"
    )
    assert data["networks"]["fabric"]["type"] == "infiniband"


def test_blocks_keep_their_order_and_sizes(imported: Imported) -> None:
    blocks = "BlockName=right Nodes=n[5-8]\nBlockName=left Nodes=n[1-4]\nBlockSizes=4,8\n"
    _, data = imported(slurm_conf=_CONF % "block", topology_conf=blocks)
    topology = data["slurm"]["topology"]
    assert topology == {"plugin": "block", "block_sizes": [4, 8], "blocks": {"right": "n[5-8]", "left": "n[1-4]"}}
    assert list(topology["blocks"]) == ["right", "left"]
    assert "fabric" not in data["networks"]


@pytest.mark.many
@pytest.mark.parametrize(
    ("plugin", "topology", "reason"),
    [
        ("tree", _LEAVES, "its 2 parts are not connected"),
        ("tree", "SwitchName=a1 Nodes=n[1-7]\n", "n8 is in none of its switches"),
        ("tree", "SwitchName=a1 Nodes=n[1-9]\n", "n9 of a1 is not a node of slurm.conf"),
        ("tree", "SwitchName=a1 Nodes=n[1-8]\nSwitchName=a2 Nodes=n8\n", "n8 is in a1 and in a2"),
        ("tree", f"{_LEAVES}SwitchName=t Switches=a[1-2]\nSwitchName=u Switches=a1\n", "a1 is below both t and u"),
        ("tree", f"{_LEAVES}SwitchName=t Switches=a[1-3]\n", "a3, below t, is not a switch"),
        (
            "tree",
            "SwitchName=a1 Nodes=n[1-8]\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n",
            "its switches form a cycle",
        ),
        ("tree", "SwitchName=a1 Nodes=n[1-8] Switches=a2\nSwitchName=a2\n", "a1 has nodes and switches below it"),
        (
            "block",
            "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-7]\nBlockSizes=4\n",
            "n8 is in none of its blocks",
        ),
        (
            "block",
            "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,6\n",
            "6 is not 4 times a power of two",
        ),
        (
            "flat",
            f"{_LEAVES}SwitchName=t Switches=a[1-2]\n",
            "Slurm does not read it, because TopologyPlugin is not set",
        ),
    ],
)
def test_a_topology_that_does_not_fit_stays_line_by_line_with_its_reason(
    imported: Imported, plugin: str, topology: str, reason: str
) -> None:
    result, data = imported(slurm_conf=_CONF % plugin, topology_conf=topology)
    assert len(data["slurm"]["topology"]["lines"]) == len(topology.splitlines())
    assert "fabric" not in data["networks"]
    assert data["slurm"]["topology"].keys() <= {"plugin", "lines"}
    [text] = [note.text for note in result.notes if note.text.startswith("topology.conf is kept unchanged: ")]
    assert reason in text
    assert f"# {text}\n" in result.text


@pytest.mark.slow
def test_topology_yaml_becomes_the_same_switches(imported: Imported) -> None:
    result, data = imported("26.05", slurm_conf=_CONF % "tree", topology_yaml=_TREE)
    assert data["slurm"]["topology"] == {"plugin": "tree", "format": "yaml"}
    assert [switch["name"] for switch in data["networks"]["fabric"]["switches"]] == ["a1", "a2", "core"]
    assert "# the oldest\n      - {name: a1," in result.text
    assert result.files == {}
    meant = {note.text for note in result.notes if note.kind == "meant"}
    assert "topology 'hall' is renamed to 'fabric'; no partition uses it" in meant
    assert "Slurm ignores TopologyPlugin=topology/tree because topology.yaml exists" in meant


@pytest.mark.slow
def test_topology_yaml_with_blocks_or_flat(imported: Imported) -> None:
    _, data = imported("25.05", slurm_conf=_CONF % "block", topology_yaml=_BLOCKS)
    blocks = {"b1": "n[1-4]", "b2": "n[5-8]"}
    assert data["slurm"]["topology"] == {"plugin": "block", "block_sizes": [4, 8], "blocks": blocks, "format": "yaml"}


@pytest.mark.parametrize(
    ("partition", "topology"),
    [
        ("", _TREE + _BLOCKS.replace("hall", "other")),
        ("", "- topology: t\n  ring: {rings: []}\n"),
        ("", _TREE.replace("nodes: n[1-4]", "nodes: n[1-4]\n        speed: 4")),
        ("", "nothing of the kind"),
        ("Topology=hall", _TREE),
    ],
)
def test_a_topology_yaml_that_does_not_fit_goes_to_the_site(imported: Imported, partition: str, topology: str) -> None:
    conf = (_CONF % "tree").replace("Nodes=ALL", f"Nodes=ALL {partition}")
    result, data = imported("26.05", slurm_conf=conf, topology_yaml=topology)
    assert result.files == {"site/slurm_node/etc/slurm/topology.yaml": topology.encode()}
    assert "fabric" not in data["networks"]
    assert any(note.text.startswith("topology.yaml is kept unchanged: ") for note in result.notes)


@pytest.mark.parametrize("plugin", ["tree", "block"])
@pytest.mark.parametrize("text", [None, "# nobody has written it yet\n"])
def test_a_plugin_without_its_file_is_left_out_and_reported(tmp_path: Path, plugin: str, text: str | None) -> None:
    (tmp_path / "slurm.conf").write_text(_CONF % plugin, encoding="utf-8")
    if text is not None:
        (tmp_path / "topology.conf").write_text(text, encoding="utf-8")
    import_result = import_directory(tmp_path, version="24.11")
    assert import_result.errors == ()
    [item] = [item for item in import_result.compared if not item.meant]
    assert (item.change.key, item.change.old) == ("TopologyPlugin", f"topology/{plugin}")
    assert "topology.conf" in item.why


@pytest.mark.slow
def test_only_the_file_that_the_release_reads_counts(imported: Imported) -> None:
    result, data = imported(
        "26.05", slurm_conf=_CONF % "tree", topology_yaml=_TREE, topology_conf="SwitchName=x Nodes=n[1-8]\n"
    )
    assert [switch["name"] for switch in data["networks"]["fabric"]["switches"]] == ["a1", "a2", "core"]
    assert "topology.conf is omitted: Slurm ignores it because topology.yaml exists" in {
        note.text for note in result.notes
    }
