"""Checks of ports, cables and rails, at their limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.cluster.resolve import resolve
from clustergen.compile import frozen
from clustergen.manifest.model import Manifest
from clustergen.records import replace
from strategies.trees import codes_of, manifest

PORT = {"device": "mlx5_0", "interface": "ib0", "model": "cx7"}


def fabric_of(fabric: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Four HGX H100 nodes with eight ports of 400 Gb/s."""
    ports = [PORT | {"device": f"mlx5_{number}", "interface": f"ib{number}"} for number in range(8)]
    data = manifest(node_types={"gpu": {"system": "hgx-h100-8", "nics": ports}}, **changes)
    data["networks"]["fabric"] = {"type": "infiniband", "rate": "NDR", **fabric}
    return data


RACK = {"r1": {"nodes": "c[1-4],head"}}


@pytest.mark.parametrize(
    ("fabric", "codes"),
    [
        ({"plan": {"leaf": "qm9700"}}, set()),
        ({"plan": {"leaf": "qm8700"}}, {"switch-too-slow"}),
        ({"plan": {"leaf": "sn5600"}}, {"switch-fabric"}),
        ({"plan": {"leaf": "q3400"}}, {"switch-one-rate"}),
        ({"rate": None, "plan": {"leaf": "q3400"}}, {"switch-one-rate"}),
        ({"switches": [{"name": "leaf1", "model": "q3400", "nodes": "c[1-4]"}]}, {"switch-one-rate"}),
        ({"plan": {"leaf": "qm9700", "leaves": 2, "spine": "sn5600"}}, {"switch-fabric"}),
        ({"plan": {"leaf": "qm9700", "leaves": 9}}, {"network-value-unused"}),
        ({"type": "roce", "rate": "400Gb/s", "plan": {"leaf": "qm9700"}}, {"switch-fabric"}),
        ({"rate": None, "plan": {"leaf": "qm8700"}}, {"nic-faster-than-switch"}),
        ({"rate": "HDR", "plan": {"leaf": "qm8700"}}, set()),
        ({"plan": {"leaf": "qm9700", "capacity": 3}}, {"value-out-of-range"}),
        ({"plan": {"leaf": "qm9700", "capacity": 4}}, set()),
        ({"plan": {"leaf": "qm9700", "capacity": 4, "reserved": 1}}, {"value-out-of-range"}),
    ],
)
def test_switches_of_a_plan(fabric, codes, tmp_path):
    data = fabric_of({key: value for key, value in fabric.items() if value is not None})
    if "rate" in fabric and fabric["rate"] is None:
        del data["networks"]["fabric"]["rate"]
    assert set(codes_of(data, tmp_path)) - {"subnet-manager-missing", "plan-without-racks"} == codes


@pytest.mark.parametrize("name", ["R1", "1-A", "b2.04"])
def test_references_to_a_rack_use_its_name(name: str, tmp_path: Path) -> None:
    switches = [{"name": "leaf", "nodes": "c[1-4]", "rack": name}]
    racks = {name: {"nodes": "c[1-4],head", "row": name}}
    device = {"address": "10.0.9.201", "module": "ups_mib", "auth": "site", "rack": name}
    monitoring = {"snmp": {"devices": {"ups": device}}}
    codes = codes_of(fabric_of({"switches": switches}, racks=racks, monitoring=monitoring), tmp_path)
    assert not {"text-malformed", "rack-unknown"}.intersection(codes)


@pytest.mark.parametrize("fabric", [{"plan": {"leaf": "qm9790"}}, {"switches": [{"name": "leaf", "model": "qm9790"}]}])
def test_switches_that_cannot_run_the_subnet_manager(fabric: dict[str, Any], tmp_path: Path) -> None:
    assert "subnet-manager-missing" in codes_of(fabric_of(fabric), tmp_path)


@pytest.mark.parametrize(
    ("racks", "of_plan", "is_reported"),
    [({}, {}, True), (RACK, {}, True), (RACK, {"racks": "r1"}, False)],
    ids=["no racks", "racks for the nodes alone", "racks for all"],
)
def test_a_plan_without_racks_names_its_gaps(racks, of_plan, is_reported, tmp_path):
    codes = codes_of(fabric_of({"plan": {"leaf": "qm9700", **of_plan}}, racks=racks), tmp_path)
    assert codes.count("plan-without-racks") == is_reported
    assert "plan-without-racks" not in codes_of(fabric_of({}), tmp_path)


@pytest.mark.parametrize(("ports", "nodes", "is_reported"), [(1, 4, True), (2, 4, False), (1, 1, False)])
def test_eight_gpus_for_one_port_are_many(ports, nodes, is_reported, tmp_path):
    data = fabric_of({})
    data["node_types"]["gpu"]["nics"] = data["node_types"]["gpu"]["nics"][:ports]
    data["nodes"][1] |= {"name": f"c[1-{nodes}]", "address": f"10.0.0.[11-{10 + nodes}]"}
    assert ("gpus-share-ports" in codes_of(data, tmp_path)) == is_reported


@pytest.mark.parametrize(
    ("second", "is_reported"),
    [
        (("c[1-2]", "c[3-4]"), False),
        (("c[3-4]", "c[1-2]"), False),
        (("c[1,3]", "c[2,4]"), True),
        (("c[1-4]", ""), True),
    ],
)
def test_nodes_share_the_leaves_of_all_rails(second, is_reported, tmp_path):
    data = manifest()
    leaves = [("a1", "c[1-2]", 0), ("a2", "c[3-4]", 0), ("b1", second[0], 1), ("b2", second[1], 1)]
    data["networks"]["fabric"]["switches"] = [
        {"name": name, "model": "qm9700", "nodes": nodes, "rail": rail, "uplinks": [{"to": "top"}]}
        for name, nodes, rail in leaves
        if nodes
    ] + [{"name": "top", "model": "qm9700"}]
    assert ("rails-apart" in codes_of(data, tmp_path)) == is_reported


@pytest.mark.parametrize(("position", "is_reported"), [(40, False), (1000, True)])
def test_cables_reach(position, is_reported, tmp_path):
    racks = {"r1": {"nodes": "c[1-4]", "row": "a", "position": 1}, "r2": {"row": "a", "position": position}}
    data = fabric_of({"plan": {"leaf": "qm9700", "racks": "r2"}}, racks=racks)
    assert ("link-without-cable" in codes_of(data, tmp_path)) == is_reported


def test_a_range_of_rails_is_an_entry_for_each():
    common = {"model": "qm9700", "nodes": "c[1-4]", "uplinks": [{"to": "top"}]}
    entries = [{"name": f"leaf{rail}", "rail": rail, **common} for rail in range(8)]
    each, folded = (
        resolve(Manifest.model_validate(frozen(fabric_of({"switches": [*leaves, {"name": "top"}]}))), [].append)
        for leaves in (entries, [{"name": "leaf[0-7]", "rail": "0-7", **common}])
    )
    assert [replace(leaf, index=None, entry="") for leaf in each.switches] == [
        replace(leaf, index=None, entry="") for leaf in folded.switches
    ]
    assert [leaf.rail for leaf in folded.switches] == [*range(8), None]


ETHERNET = {"type": "roce", "rate": "400Gb/s", "plan": {"leaf": "sn5600", "unit": 2}, "cidr": "10.1.0.0/24"}


@pytest.mark.parametrize(
    ("changes", "addresses", "code"),
    [
        ({}, "10.1.0.[1-4]", "rail-spans-leaves"),
        ({}, None, ""),
        ({"plan": {"leaf": "sn5600"}}, None, ""),
        ({"type": "infiniband", "rate": "NDR", "plan": {"leaf": "qm9700", "unit": 2}}, None, ""),
        ({"routing": "bridged"}, "10.1.0.[1-4]", ""),
        ({"routing": "/26"}, None, ""),
        ({"routing": "/26"}, "10.1.0.[1-2],10.1.0.[65-66]", ""),
        ({"routing": "/26"}, "10.1.0.[1-4]", "leaf-network"),
        ({"routing": "/26"}, "10.1.0.1,10.1.0.62,10.1.0.[65-66]", "leaf-network"),
        ({"routing": "/26"}, "10.1.0.1,10.1.0.2,10.1.0.[64-65]", "leaf-network"),
        ({"routing": "/31"}, "10.1.0.1,10.1.0.3,10.1.0.5,10.1.0.7", ""),
        ({"routing": "/31"}, "10.1.0.[1-4]", "leaf-network"),
        ({"routing": "/26", "cidr": "fd00::/64"}, "fd00::[1-4]", "leaf-network"),
    ],
)
def test_leaves_of_an_ethernet_rail_are_joined(
    changes: dict[str, Any], addresses: str | None, code: str, tmp_path: Path
) -> None:
    data = fabric_of({})
    data["networks"]["fabric"] = {**ETHERNET, **changes}
    kind = next(node["type"] for node in data["nodes"] if node["name"] == "c[1-4]")
    data["node_types"][kind]["nics"] = [{"device": "mlx5_0", "interface": "ens1np0", "model": "cx7"}]
    if addresses:
        next(node for node in data["nodes"] if node["name"] == "c[1-4]")["addresses"] = {"fabric": addresses}
    codes = {"rail-spans-leaves", "leaf-network"}.intersection(codes_of(data, tmp_path))
    assert codes == ({code} if code else set())


@pytest.mark.parametrize(
    ("fabric", "is_reported"),
    [
        ({"plan": {"leaf": "qm9700", "unit": 2}}, True),
        ({"plan": {"leaf": "qm9700"}}, False),
        ({"plan": {"leaf": "qm9700", "unit": 2}, "opensm_options": {"routing_engine": "updn,ar_updn"}}, False),
        ({"plan": {"leaf": "qm9700", "unit": 2}, "subnet_manager": {"where": "ufm"}}, False),
    ],
)
def test_opensm_of_a_distribution_does_not_spread_traffic_by_load(
    fabric: dict[str, Any], is_reported: bool, tmp_path: Path
) -> None:
    data = fabric_of({"subnet_manager": {"where": "node"}, **fabric})
    assert ("adaptive-routing-absent" in codes_of(data, tmp_path)) == is_reported
