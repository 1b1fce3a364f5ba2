"""Cables of planned and of listed switches, as in cables.csv."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.catalogue.cabling import connectors
from clustergen.facility.lengths import lengths
from clustergen.facility.placement import devices
from clustergen.manifest.hardware import Connector
from strategies.trees import codes_of, manifest, tree_of

DGX = {"name": "c[001-127]", "type": "dgx", "address": "10.0.0.[11-137]"}
HEAD = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]}
RACKS = {
    "a[01-16]": {"nodes": "c[001-064]", "units": 48, "row": "a"},
    "b[01-16]": {"nodes": "c[065-127]", "units": 48, "row": "b"},
    "n[1-3]": {"nodes": "head", "units": 48, "row": "c"},
}


def superpod(**plan: Any) -> dict[str, Any]:
    """127 DGX H100, as in the reference architecture."""
    data = manifest(node_types={"dgx": {"system": "dgx-h100"}}, nodes=deepcopy([HEAD, DGX]), racks=deepcopy(RACKS))
    data["networks"]["fabric"]["plan"] = {"leaf": "qm9700", "reserved": 1, "racks": "n[1-3]", **plan}
    return data


def rows_of(data: dict[str, Any], directory: Any) -> list[dict[str, str]]:
    text = tree_of(data, directory).files["facility/cables.csv"].content.decode()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def cables(tmp_path_factory):
    return rows_of(superpod(), tmp_path_factory.mktemp("superpod"))


@pytest.mark.slow
def test_a_superpod_has_the_cables_of_its_reference(cables):
    up = [row for row in cables if row["side_a_device"].startswith("leaf")]
    assert (len(cables) - len(up), len(up)) == (1016, 1024)
    assert {row["side_b_device"] for row in up} == {f"spine{number:02}" for number in range(1, 17)}


@pytest.mark.slow
def test_no_port_has_two_cables(cables):
    ends = Counter((row[f"side_{side}_device"], row[f"side_{side}_name"]) for row in cables for side in "ab")
    assert max(ends.values()) == 1
    assert len(ends) == 2 * len(cables)


@pytest.mark.slow
def test_rows_of_a_twin_cable_have_one_label_and_are_one_cable_of_the_bill(tmp_path):
    """The label names the two cages; each cage is in one cable only."""
    tree = tree_of(superpod(), tmp_path)
    twins = defaultdict(list)
    for row in csv.DictReader(io.StringIO(tree.files["facility/cables.csv"].content.decode())):
        if "-twin" in row["description"]:
            twins[row["label"]].append(row)
    for label, rows in twins.items():
        cages = {tuple(row[f"side_{side}_name"].partition("/")[0] for side in "ab") for row in rows}
        assert len(rows) == 2
        assert len(cages) == 1
        ((a, b),) = cages
        assert label == f"{rows[0]['side_a_device']} {a} | {rows[0]['side_b_device']} {b}"
        assert f"one cable for 2 rows: cage {a} to cage {b}" in rows[0]["description"]
    bought = csv.DictReader(io.StringIO(tree.files["facility/bom.csv"].content.decode()))
    assert sum(int(row["count"]) for row in bought if "-twin" in row["item"]) == len(twins) == 512


@pytest.mark.slow
def test_rows_of_one_module_name_its_cage(cables):
    fibres = [row for row in cables if row["type"].startswith("mmf") and row["side_a_device"].startswith("c")]
    shared = "module shared with the other port of cage OSFP4 of c001 and of cage 1 of leaf01-r0"
    assert shared in fibres[0]["description"]


@pytest.mark.slow
def test_a_node_has_one_port_number_on_the_leaves_of_all_rails(cables):
    ports = defaultdict(set)
    leaves = defaultdict(set)
    for row in cables:
        if row["side_a_device"].startswith("c"):
            ports[row["side_a_device"]].add(row["side_b_name"])
            leaves[row["side_a_device"]].add(row["side_b_device"])
    assert all(len(numbers) == 1 for numbers in ports.values())
    assert leaves["c031"] == {f"leaf01-r{rail}" for rail in range(8)}
    assert leaves["c032"] == {f"leaf02-r{rail}" for rail in range(8)}, "a port of each leaf in the first unit is free"


def test_links_of_one_cage_are_of_one_kind(cables):
    """A cage holds one module or one plug; a straight copper cable joins whole cages."""
    kinds = defaultdict(set)
    opposite = defaultdict(set)
    for row in cables:
        cages = [(row[f"side_{side}_device"], row[f"side_{side}_name"].rpartition("/")[0]) for side in "ab"]
        for cage, other in (cages, cages[::-1]):
            kinds[cage].add(row["type"])
            opposite[cage].add(other)
    switches = [cage for cage in kinds if not cage[0].startswith("c")]
    assert all(len(kinds[cage]) == 1 for cage in switches)
    assert all(len(opposite[cage]) == 1 for cage in switches if kinds[cage] != {"mmf-om4"})


def test_ordered_cables_are_long_enough(cables):
    for row in cables:
        way = float(row["description"].partition(" m by geometry")[0].rpartition("; ")[2])
        assert way <= float(row["length"]) <= 50


def test_the_margin_is_added_to_the_slack_as_well(tmp_path):
    metres = []
    for margin in ("0%", "50%"):
        data = manifest(racks={"r": {"nodes": "c[1-4]"}}, facility={"cabling": {"slack": 4, "margin": margin}})
        (tmp_path / "manifest.yaml").write_text(json.dumps(data), encoding="utf-8")
        metres.append(lengths(compiler.validate(tmp_path / "manifest.yaml").cluster)("c1", "c4"))
    assert 4 < metres[0] < 6
    assert metres[1] == pytest.approx(1.5 * metres[0], abs=0.2)


@pytest.mark.slow
def test_without_places_lengths_are_unknown(tmp_path):
    data = superpod()
    del data["racks"], data["networks"]["fabric"]["plan"]["racks"]
    rows = rows_of(data, tmp_path)
    assert len(rows) == 2040
    assert {(row["type"], row["length"]) for row in rows} == {("", "")}


def test_switches_that_the_manifest_lists(tmp_path):
    """Ports of a node without rails are divided among its leaves; uplinks take the last ports."""
    data = manifest()
    data["networks"]["fabric"]["switches"] = [
        {"name": "leaf[1-2]", "model": "qm9700", "nodes": "c[1-4]", "uplinks": [{"to": "top", "links": 3}]},
        {"name": "top", "model": "qm9700"},
    ]
    rows = rows_of(data, tmp_path)
    ends = {(row["side_a_device"], row["side_a_name"], row["side_b_device"], row["side_b_name"]) for row in rows}
    assert ("c3", "mlx5_0", "leaf1", "2/1") in ends
    assert ("c3", "mlx5_1", "leaf2", "2/1") in ends
    assert ("leaf2", "32/2", "top", "3/2") in ends
    assert len(rows) == 14


@pytest.mark.parametrize(
    ("plan", "racks", "code"),
    [
        ({"leaf": "qm9999"}, {}, "switch-model-unknown"),
        ({"unit": 33}, {}, "plan-does-not-fit"),
        ({"leaf": "sn2201", "unit": 1, "capacity": 60000}, {}, "plan-does-not-fit"),
        ({"nodes": "c[001-128]"}, {}, "plan-node"),
        ({"nodes": "head"}, {}, "plan-node"),
        ({"racks": "n[1-4]"}, {}, "rack-unknown"),
        ({}, {"a01": {"units": 48}}, "rack-duplicate"),
        ({}, {"x1": {"row": "a", "position": 16}}, "rack-duplicate"),
        ({}, {"x1": {"places": {"c001": 1}}}, "rack-place"),
        ({}, {"n[1-3]": {"nodes": "head", "places": {"leaf01-r0": 48, "leaf01-r1": 48}}}, "rack-place"),
        ({}, {"n[1-3]": {"nodes": "head", "places": {"leaf01-r0": 49}}}, "rack-place"),
    ],
)
def test_impossible_cabling_is_reported(plan, racks, code, tmp_path):
    data = superpod(**plan)
    data["racks"] = {**data["racks"], **racks}
    assert code in codes_of(data, tmp_path)


@pytest.mark.slow
def test_places_of_racks_of_one_entry_are_stacked_in_each_of_them(tmp_path):
    """Of a list of devices, those that are in another rack take no units in this one."""
    data = superpod()
    data["racks"]["a[01-16]"]["places"] = {"c[001-064]": 9}
    (tmp_path / "manifest.yaml").write_text(json.dumps(data), encoding="utf-8")
    cluster = compiler.validate(tmp_path / "manifest.yaml").cluster
    assert cluster is not None
    places = {name: device.place for name, device in devices(cluster).items()}
    assert [places[f"c{number:03}"].unit for number in (1, 2, 4, 5, 6)] == [9, 17, 33, 9, 17]
    assert not any(places[f"c{number:03}"].derived for number in range(1, 65))


def test_a_switch_of_the_site_is_not_one_of_ours(tmp_path):
    """`catalogue.switches` comes before our row of the same name, for its title and weight too."""
    model = {"fabric": "infiniband", "ports": 64, "rate": "NDR", "rack_units": 2, "power": "1kW"}
    data = superpod() | {"catalogue": {"switches": {"qm9700": model}}}
    (tmp_path / "manifest.yaml").write_text(json.dumps(data), encoding="utf-8")
    cluster = compiler.validate(tmp_path / "manifest.yaml").cluster
    assert cluster is not None
    leaf = devices(cluster)["leaf01-r0"]
    assert (leaf.title, leaf.weight_kg, leaf.height, leaf.power_w) == ("qm9700", None, 2, 1000)


def test_a_connectx_7_has_the_cage_that_its_switch_asks_for(tmp_path):
    gpu = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": [{"device": "mlx5_0", "model": "cx7"}]}
    nodes = [HEAD, {**DGX, "name": "c[1-2]", "type": "gpu", "address": "10.0.0.[11-12]"}]
    kinds = {}
    for model, rate in (("qm8700", "HDR"), ("qm9700", "NDR")):
        data = manifest(node_types={"gpu": gpu}, nodes=nodes, racks={"r1": {"nodes": "c[1-2]", "units": 8}})
        data["networks"]["fabric"] |= {"rate": rate, "switches": [{"name": "ib1", "model": model, "nodes": "c[1-2]"}]}
        data["networks"]["fabric"]["switches"][0]["rack"] = "r1"
        kinds[model] = {row["description"].rpartition("; ")[2].partition(",")[0] for row in rows_of(data, tmp_path)}
    assert kinds == {"qm8700": {"dac-hdr"}, "qm9700": {"dac-ndr-split-osfp"}}


def test_only_ports_of_nodes_are_split_where_the_switch_is_faster_than_the_nodes(tmp_path):
    gpu = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": [{"device": "mlx5_0", "model": "cx6"}]}
    nodes = [HEAD, {**DGX, "name": "c[1-3]", "type": "gpu", "address": "10.0.0.[11-13]"}]
    data = manifest(node_types={"gpu": gpu}, nodes=nodes, racks={"r1": {"nodes": "c[1-3]", "units": 8}})
    leaf = {
        "name": "leaf",
        "model": "qm9700",
        "nodes": "c[1-3]",
        "uplinks": [{"to": "spine", "links": 2}],
        "rack": "r1",
    }
    spine = {"name": "spine", "model": "qm9700", "rack": "r1"}
    data["networks"]["fabric"] |= {"rate": "HDR", "switches": [leaf, spine]}
    ends = [
        [f"{row[f'side_{side}_device']} {row[f'side_{side}_name']}" for side in "ab"] for row in rows_of(data, tmp_path)
    ]
    assert ends == [
        ["c1 mlx5_0", "leaf 1/1/1"],
        ["c2 mlx5_0", "leaf 1/1/2"],
        ["c3 mlx5_0", "leaf 1/2/1"],
        ["leaf 32/1", "spine 1/1"],
        ["leaf 32/2", "spine 1/2"],
    ]


def test_a_manifest_settles_what_cage_its_adapter_has(tmp_path):
    port = {"device": "mlx5_0", "model": "cx7", "connector": "qsfp112"}
    gpu = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": [port]}
    nodes = [HEAD, {**DGX, "name": "c[1-2]", "type": "gpu", "address": "10.0.0.[11-12]"}]
    data = manifest(node_types={"gpu": gpu}, nodes=nodes, racks={"r1": {"nodes": "c[1-2]", "units": 8}})
    switch = {"name": "ib1", "model": "qm9700", "nodes": "c[1-2]", "rack": "r1"}
    data["networks"]["fabric"] |= {"rate": "NDR", "switches": [switch]}
    assert {row["description"].rpartition("; ")[2].partition(",")[0] for row in rows_of(data, tmp_path)} == {
        "dac-ndr-split-qsfp112"
    }
    assert get_args(Connector) == tuple(connectors())


@pytest.mark.slow
def test_ports_of_management_controllers_have_their_printed_names(tmp_path):
    nodes = [HEAD, {**DGX, "name": "c[1-2]", "type": "xe", "address": "10.0.0.[11-12]"}]
    data = manifest(node_types={"xe": {"system": "dell-xe9680"}}, nodes=nodes)
    data["networks"]["bmc"] = {"cidr": "10.9.0.0/24", "plan": {"leaf": "sn2201"}}
    tree = tree_of(data, tmp_path)
    rows = csv.DictReader(io.StringIO(tree.files["facility/cables.csv"].content.decode()))
    assert {row["side_a_name"] for row in rows if row["side_a_device"] == "c1" and "bmc" in row["label"]} == {"iDRAC"}
    kind = yaml.safe_load(tree.files["facility/device-types/Dell/dell-poweredge-xe9680.yaml"].content)
    assert {"name": "iDRAC", "type": "1000base-t", "mgmt_only": True} in kind["interfaces"]
    configured = [file.content for path, file in tree.files.items() if not path.startswith("facility/")]
    assert not any(b"iDRAC" in content for content in configured)


@pytest.mark.slow
def test_a_plan_with_capacity_moves_nothing_when_the_cluster_grows(tmp_path):
    """Spines, ports and racks are those of the final size; a new unit adds leaves and cables."""
    small = superpod(capacity=256, racks="n[1-6]")
    small["racks"] = {**RACKS, "n[1-6]": RACKS["n[1-3]"]}
    del small["racks"]["n[1-3]"]
    large = deepcopy(small)
    small["nodes"][1] = {"name": "c[001-063]", "type": "dgx", "address": "10.0.0.[11-73]"}
    small["racks"] = {**small["racks"], "a[01-16]": {**RACKS["a[01-16]"], "nodes": "c[001-063]"}}
    small["racks"]["b[01-16]"] = {**RACKS["b[01-16]"], "nodes": None}
    for directory in ("small", "large"):
        (tmp_path / directory).mkdir()
    before = {tuple(row.values()) for row in rows_of(small, tmp_path / "small")}
    after = {tuple(row.values()) for row in rows_of(large, tmp_path / "large")}
    assert before < after, "nothing is replugged, and no switch has another place"
    assert {row[3] for row in before if row[0].startswith("leaf")} == {f"spine{number:02}" for number in range(1, 33)}


@pytest.mark.parametrize(
    ("fabric", "plan", "has_spines"),
    [
        ({}, {}, False),
        ({"gateways": ["10.1.0.254", "10.1.1.254"]}, {}, True),
        ({}, {"spines": 1}, True),
        ({}, {"capacity": 200}, True),  # a rail has several leaves
        ({"type": "infiniband", "rate": "NDR"}, {"leaf": "qm9700"}, True),
    ],
    ids=["not routed", "routed", "stated", "several leaves", "InfiniBand"],
)
def test_rails_that_are_not_routed_need_no_spine(tmp_path, fabric, plan, has_spines):
    nics = [{"device": f"mlx5_{rail}", "interface": f"ens{rail + 1}np0", "model": "cx7"} for rail in range(2)]
    gpu = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": nics}
    data = manifest(node_types={"gpu": gpu}, nodes=[HEAD, {**DGX, "name": "c[1-4]", "address": "10.0.0.[11-14]"}])
    data["nodes"][1]["type"] = "gpu"
    rails = {"type": "roce", "rate": "400Gb/s", "rails": ["10.1.0.0/24", "10.1.1.0/24"]}
    data["networks"]["fabric"] = {**rails, "plan": {"leaf": "sn5600", "leaves": 2, **plan}, **fabric}
    tree = tree_of(data, tmp_path)
    rows = list(csv.DictReader(io.StringIO(tree.files["facility/cables.csv"].content.decode())))
    assert {row["side_b_device"] for row in rows if row["side_a_device"].startswith("c")} == {"leaf01-r0", "leaf01-r1"}
    assert any(row["side_b_device"].startswith("spine") for row in rows) is has_spines


PLANES = [(2, 2, 0), (64, 16, 8), (128, 32, 16), pytest.param(512, 128, 64, marks=pytest.mark.slow)]
"""Nodes with a port of 400 Gb/s in each of two planes for each of 8 GPUs → leaves and spines; from 64 on, those of
docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300, table 3."""


@pytest.mark.parametrize(("nodes", "leaves", "spines"), PLANES)
def test_two_planes_share_no_switch(nodes: int, leaves: int, spines: int, tmp_path: Path) -> None:
    nics = [{"device": f"mlx5_{port}", "interface": f"ens{port}", "model": "cx8"} for port in range(16)]
    data = manifest(node_types={"gpu": {"system": "hgx-b300-8", "nics": nics}})
    plan = {"leaf": "sn5600", "planes": 2, **({"unit": 64} if nodes > 2 else {})}
    data["networks"]["fabric"] = {"type": "roce", "rate": "400Gb/s", "routing": "bridged", "plan": plan}
    addresses = f"10.0.[1-{-(-nodes // 128)}].[11-{10 + min(nodes, 128)}]"
    data["networks"]["management"] = {"cidr": "10.0.0.0/16"}
    data["nodes"][1] |= {"type": "gpu", "name": f"c[1-{nodes}]", "address": addresses}
    rows = list(csv.DictReader(io.StringIO(tree_of(data, tmp_path).files["facility/cables.csv"].content.decode())))
    ends = [(row["side_a_device"], row["side_a_name"], row["side_b_device"]) for row in rows]
    assert len({b for a, _, b in ends if a.startswith("c")}) == leaves
    assert len({b for a, _, b in ends if not a.startswith("c")}) == spines
    assert all(a[:2] == b[:2] for a, _, b in ends if not a.startswith("c"))
    assert {(port, b[:2]) for a, port, b in ends if a == "c1"} == {
        (f"mlx5_{port}", f"p{port % 2}") for port in range(16)
    }


@pytest.mark.parametrize(
    ("ports", "kind", "is_reported"), [(2, "roce", False), (1, "roce", True), (2, "infiniband", True)]
)
def test_planes_need_ports_of_each(ports: int, kind: str, is_reported: bool, tmp_path: Path) -> None:
    nics = [{"device": f"mlx5_{port}", "interface": f"ens{port}", "model": "cx8"} for port in range(ports)]
    data = manifest(node_types={"gpu": {"system": "hgx-b300-8", "nics": nics}})
    leaf = "qm9700" if kind == "infiniband" else "sn5600"
    data["networks"]["fabric"] = {"type": kind, "plan": {"leaf": leaf, "planes": 2}}
    assert ("plan-does-not-fit" in codes_of(data, tmp_path)) == is_reported
