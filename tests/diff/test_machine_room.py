"""Changes in the machine room, for those who rack and cable: by meaning, and linear in cables."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.cli.diff import compare
from clustergen.diagnostics import ClustergenError
from clustergen.diff.room import room_changes
from clustergen.diff.room_lines import room_lines
from clustergen.diff.room_tables import Tables
from clustergen.diff.show_markdown import markdown
from clustergen.diff.show_text import text
from strategies.diffs import diff, rendered

CIRCUITS = [{"volts": 400, "amps": 32, "count": 4}]


def cluster(nodes: int, *, leaf: str = "ib1", rack: str = "r1", **racks: Any) -> dict[str, Any]:
    """Nodes with one port each on one switch, in rack r1 or in those that are given."""
    gpu = {
        "system": "hgx-h100-8",
        "power": {"psus": 6, "max": "10kW"},
        "nics": [{"device": "mlx5_0", "model": "cx7", "connector": "osfp"}],
    }
    names = f"c[1-{nodes}]"
    return {
        "name": "room",
        "os": "debian-13",
        "networks": {
            "management": {"cidr": "10.0.0.0/16", "domain": "cluster.example"},
            "fabric": {
                "type": "infiniband",
                "rate": "NDR",
                "switches": [{"name": leaf, "model": "qm9700", "nodes": names, "rack": rack}],
            },
        },
        "node_types": {"gpu": gpu},
        "nodes": [
            {"name": "head", "type": "service", "address": "10.0.255.1", "roles": ["slurm-controller"]},
            {"name": names, "type": "gpu", "address": f"10.0.0.[1-{nodes}]"},
        ],
        "racks": racks or {"r1": {"nodes": names, "units": 48, "circuits": CIRCUITS}},
        "slurm": {"version": "24.11", "partitions": {"batch": {"nodes": "all", "default": True}}},
    }


def plan_of(directory: Path, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The plan as JSON; the text and the Markdown of it under `text` and `markdown`."""
    sides = []
    for name, document in (("old", old), ("new", new)):
        (directory / name).mkdir()
        sides.append(directory / name / "manifest.yaml")
        sides[-1].write_text(yaml.safe_dump(document), encoding="utf-8")
    compared = compare(*map(str, sides))
    (plan,) = compared.plans
    document = json.loads(compared.document)["clusters"][0]
    return {**document, "text": text(plan), "markdown": markdown([plan], [], [])}


def room_counts(plan: dict[str, Any]) -> dict[str, int]:
    """The totals that are about the machine room."""
    words = ("cables", "devices", "switches", "recable")
    return {name: number for name, number in plan["totals"].items() if number and any(word in name for word in words)}


@pytest.mark.slow
def test_new_nodes_are_cabled_while_the_others_run(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, cluster(2), cluster(4))
    assert room_counts(plan) == {"cables_to_add": 2}
    assert plan["machine_room"]["recabled"] == []
    assert [row for row in plan["machine_room"]["ports_left"] if row["network"] == "fabric"] == [
        {"network": "fabric", "old": 62, "new": 60}
    ]
    for shown in (plan["text"], plan["markdown"]):
        assert "2 fabric cables: c[3-4] to ib1" in shown
        assert "2 nodes: c[3-4] in r1" in shown
        assert "leaf ports left: fabric 62 → 60" in shown
        assert "2 cables to add" in shown
        assert "recable" not in shown


@pytest.mark.slow
def test_the_load_of_feeds_before_and_after(tmp_path: Path) -> None:
    """Feeds of 400 V x 32 A x sqrt(3) x 0.8 x 0.95 carry 16.8 kW each: 20 kW more on four of them are 30 %."""
    plan = plan_of(tmp_path, cluster(2), cluster(4))
    feed, *others = plan["machine_room"]["feeds"]
    assert (feed["name"], len(others)) == ("r1-A1", 3)
    assert feed["new"]["watts"] - feed["old"]["watts"] == 5_000
    assert feed["new"]["percent"] - feed["old"]["percent"] in (29, 30)
    assert f"heaviest feed at {feed['old']['percent']} → {feed['new']['percent']} %" in plan["text"]


@pytest.mark.slow
def test_a_renamed_node_keeps_its_cables(tmp_path: Path) -> None:
    new = yaml.safe_load(yaml.safe_dump(cluster(3)).replace("c[1-3]", "c[1-2],last"))
    plan = plan_of(tmp_path, cluster(3), new)
    assert (room_counts(plan), plan["machine_room"]["renamed"]) == ({}, {"c3": "last"})
    assert "NetBox: rename devices c3 → last by hand" in plan["text"]
    assert plan["machine_room"]["devices"] == []


@pytest.mark.slow
def test_a_removed_node_leaves_its_cables(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, cluster(4), cluster(3))
    assert room_counts(plan) == {"cables_to_remove": 1}
    assert "1 fabric cable: c4 to ib1" in plan["text"]
    assert "NetBox: delete devices c4 and their cables by hand" in plan["text"]
    assert plan["machine_room"]["recabled"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"leaf": "ib2"}, {"switches_to_add": 1, "switches_to_remove": 1, "cables_to_move": 4}),
        (
            {"r1": {"nodes": "c[1-2]", "units": 48}, "r2": {"nodes": "c[3-4]"}},
            {"devices_to_move": 2, "cables_to_replace": 2},
        ),
    ],
    ids=["another switch", "another rack"],
)
def test_a_node_in_service_is_drained_before_it_is_recabled(
    change: dict[str, Any], counts: dict[str, int], tmp_path: Path
) -> None:
    plan = plan_of(tmp_path, cluster(4), cluster(4, **change))
    nodes = ["c1", "c2", "c3", "c4"] if "leaf" in change else ["c3", "c4"]
    assert room_counts(plan) == {**counts, "nodes_to_recable": len(nodes)}
    assert plan["machine_room"]["recabled"] == nodes
    (step,) = [step for step in plan["steps"] if step["text"].startswith("recable: drain")]
    assert (step["hosts"], step["by"]) == (f"c[{nodes[0][1:]}-4]", "manual")
    assert "recable: drain" in plan["verdict"]


@pytest.mark.slow
def test_a_moved_leaf_interrupts_its_nodes(tmp_path: Path) -> None:
    racks = {"r1": {"nodes": "c[1-2]", "units": 48}, "r2": {"units": 48}}
    plan = plan_of(tmp_path, cluster(2, **racks), cluster(2, rack="r2", **racks))
    assert plan["machine_room"]["recabled"] == ["c1", "c2"]
    assert "1 switch to move: ib1: r1 U48 → r2 U48" in plan["text"]


@pytest.mark.slow
def test_a_changed_uplink_only_reduces_bandwidth(tmp_path: Path) -> None:
    def tree(top: str) -> dict[str, Any]:
        data = cluster(2)
        switches = data["networks"]["fabric"]["switches"]
        switches[0]["uplinks"] = [{"to": "top1", "links": 2}, {"to": top, "links": 1}]
        switches += [{"name": name, "model": "qm9700", "rack": "r1"} for name in ("top1", "top2", "top3")]
        return data

    plan = plan_of(tmp_path, tree("top2"), tree("top3"))
    assert room_counts(plan) == {"cables_to_move": 1}
    assert plan["machine_room"]["recabled"] == []
    assert plan["machine_room"]["fewer_uplinks"] == ["ib1"]
    assert "less bandwidth meanwhile, jobs continue: ib1 (manual)" in plan["text"]


@pytest.mark.slow
def test_a_manifest_and_its_tree_are_the_same_room(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump(cluster(3)), encoding="utf-8")
    tree = rendered(path)
    assert diff(path, tree).exit_code == 0
    cables = tree / "facility/cables.csv"
    cables.write_text(cables.read_text(encoding="utf-8").replace("side_a_name", "port"), encoding="utf-8")
    result = diff(path, tree)
    assert "facility/cables.csv is not in clustergen's format" in str(result.exception)


def _tables(nodes: int, rails: int = 8) -> Tables:
    """A fabric of that many nodes, a cable per rail."""
    devices = ["name,role,manufacturer,device_type,rack,position"]
    cables = ["side_a_device,side_a_name,side_b_device,side_b_name,type,length,description"]
    units = range(-(-nodes // 32))
    devices += [f"leaf{unit:03}-r{rail},fabric-switch,NVIDIA,QM,m1," for unit in units for rail in range(rails)]
    for node in range(nodes):
        devices.append(f"n{node:05},compute,Generic,Server,r{node // 4:04},{node % 4 * 8 + 1}")
        for rail in range(rails):
            leaf, port = f"leaf{node // 32:03}-r{rail}", node % 32 + 1
            cables.append(f"n{node:05},mlx5_{rail},{leaf},{port},mmf-om4,10.0,fabric; rail {rail}; 400 Gb/s; mm-ndr")
    return Tables("tree", {"devices.csv": "\n".join(devices) + "\n", "cables.csv": "\n".join(cables) + "\n"})


@pytest.mark.slow
def test_fifty_thousand_cables() -> None:
    """All of them are added in one change, and all are compared in another."""
    small, large, larger = _tables(32), _tables(6400), _tables(6404)
    start = time.process_time()
    added, few = room_changes(small, large), room_changes(large, larger)
    assert added is not None
    assert few is not None
    lines = [line.text for line in room_lines(added, 12, 100)]
    assert time.process_time() - start < 5
    assert added.count_cables("add") == 50_944
    assert few.count_cables("add") == len(few.cables) == 32
    assert len(lines) < 30, "no row per cable"
    assert "32 fabric cables: n[06400-06403] to leaf200-r[0-7] (32 × mm-ndr 10 m)" in [
        line.text for line in room_lines(few, 12, 100)
    ]


@pytest.mark.parametrize(
    "content", ["", "side_a_device\n", 'a,"b\n', "x\x00y\n"], ids=["empty", "columns", "quote", "binary"]
)
def test_a_damaged_table_is_reported_or_empty(content: str) -> None:
    intact = _tables(1)
    damaged = Tables("tree", {**intact.files, "cables.csv": content})
    if content:
        with pytest.raises(ClustergenError, match=r"cables\.csv is not in clustergen's format"):
            room_changes(intact, damaged)
    else:
        changes = room_changes(intact, damaged)
        assert changes is not None
        assert changes.count_cables("remove") == 8
