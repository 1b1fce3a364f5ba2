"""LNet routers: files of routers, clients and servers agree on networks and routes, and a router that cannot forward is
an error.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.cluster.contributions import Package
from strategies.diffs import diff, write
from strategies.findings import diagnosed
from strategies.trees import HEAD, cluster_of, manifest, node_files, text_of, tree_of

FABRIC_PORT = {"device": "mlx5_0", "interface": "ib0", "model": "cx7"}
STORAGE_PORT = {"device": "mlx5_1", "interface": "ens9", "network": "storage"}
KIND = {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB"}


def data(kind: str = "tcp") -> dict[str, Any]:
    """Compute nodes on the fabric alone, servers on the storage network alone, and two routers on both."""
    return manifest(
        os="rocky-9",
        networks={
            "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
            "fabric": {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/24"},
            "storage": {"cidr": "10.9.0.0/24"},
        },
        node_types={
            "gpu": {**KIND, "nics": [FABRIC_PORT]},
            "server": {**KIND, "nics": [STORAGE_PORT]},
            "router": {**KIND, "nics": [FABRIC_PORT, STORAGE_PORT]},
        },
        nodes=[
            HEAD,
            {"name": "c1", "type": "gpu", "address": "10.0.0.11", "addresses": {"fabric": "10.1.0.11"}},
            {
                "name": "oss1",
                "type": "server",
                "address": "10.0.0.21",
                "addresses": {"storage": "10.9.0.21"},
                "roles": [],
            },
            {
                "name": "rtr[1-2]",
                "type": "router",
                "address": "10.0.0.[91-92]",
                "addresses": {"fabric": "10.1.0.[91-92]", "storage": "10.9.0.[91-92]"},
                "roles": ["lnet-router"],
            },
        ],
        slurm={"version": "24.11", "build": "schedmd", "accounts": {}},
        host={"ssh_adopt": False, "firewall": "nftables"},
        storage={
            "lus": {
                "type": "lustre",
                "mount": "/mnt/lustre",
                "mgs": [f"10.9.0.21@{kind}"],
                "routes": [{"net": kind, "gateways": ["10.1.0.91@o2ib", "rtr2-ib0@o2ib"], "priority": 2}],
                "targets": [{"kind": "MGT", "server": "oss1", "device": "/dev/disk/by-id/mgt"}],
            }
        },
    )


@cache
def conf(host: str, directory: Path, kind: str = "tcp") -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(text_of(tree_of(data(kind), directory), host, "/etc/lnet.conf"))
    document["net"] = {net["net type"]: [ni["interfaces"][0] for ni in net["local NI(s)"]] for net in document["net"]}
    return document


def routes(net: str, *gateways: str) -> list[dict[str, Any]]:
    return [{"net": net, "gateway": gateway, "hop": 1, "priority": 2} for gateway in gateways]


@pytest.mark.parametrize("kind", ["tcp", "o2ib1"])
def test_each_side_has_its_network_and_the_routers_are_in_both(tmp_path: Path, kind: str) -> None:
    """Gateways have the address that the node has on its own side, and a router is the only one to forward."""
    assert conf("c1", tmp_path, kind) == {
        "net": {"o2ib": ["ib0"]},
        "route": routes(kind, "10.1.0.91@o2ib", "10.1.0.92@o2ib"),
    }
    assert conf("oss1", tmp_path, kind) == {
        "net": {kind: ["ens9"]},
        "route": routes("o2ib", f"10.9.0.91@{kind}", f"10.9.0.92@{kind}"),
    }
    assert conf("rtr1", tmp_path, kind) == {"net": {"o2ib": ["ib0"], kind: ["ens9"]}, "routing": [{"enable": 1}]}
    tree = tree_of(data(kind), tmp_path)
    with_options = [
        host for host in ("c1", "oss1", "rtr1") if "/etc/modprobe.d/clustergen-lnet.conf" in node_files(tree, host)
    ]
    assert with_options == ["c1", "oss1"]


def test_a_router_has_the_client_and_an_open_port_but_no_mount(tmp_path: Path) -> None:
    tree = tree_of(data(), tmp_path)
    files = node_files(tree, "rtr1")
    assert not any("lustre" in path for path in files)
    assert any("988" in text_of(tree, "rtr1", path) for path in files if "firewall" in path or "nftables" in path)
    assert Package("lnet_router", "lustre") in cluster_of(data(), tmp_path).needs(Package)


def test_a_client_in_the_servers_network_needs_no_route(tmp_path: Path) -> None:
    changed = data()
    changed["nodes"][1] |= {"type": "router", "addresses": {"fabric": "10.1.0.11", "storage": "10.9.0.11"}}
    document = yaml.safe_load(text_of(tree_of(changed, tmp_path), "c1", "/etc/lnet.conf"))
    assert [net["net type"] for net in document["net"]] == ["tcp"]
    assert "route" not in document


def altered(place: tuple[str | int, ...], value: Any) -> str:
    document = json.loads(json.dumps(data()))
    *parents, last = place
    inner: Any = document
    for key in parents:
        inner = inner[key]
    inner[last] = value
    return json.dumps(document)


ROUTE = ("storage", "lus", "routes", 0)


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ((*ROUTE, "hop"), 1, []),
        (
            ("nodes", 3, "roles"),
            [],
            [f"node '{host}' does not have the role lnet-router, so it forwards nothing" for host in ("rtr1", "rtr2")],
        ),
        (
            ("node_types", "router", "nics"),
            [FABRIC_PORT],
            [
                f"'{host}' has no interface on LNet network tcp, so it is no router between o2ib and tcp"
                for host in ("rtr1", "rtr2")
            ],
        ),
        (
            ("nodes", 3, "type"),
            "service",
            [
                f"'{host}' has no interface on LNet network {net}, so it is no router between o2ib and tcp"
                for host in ("rtr1", "rtr2")
                for net in ("o2ib", "tcp")
            ],
        ),
        (
            ("nodes", 3, "addresses"),
            {"storage": "10.9.0.[91-92]"},
            [
                "rtr1 has the role lnet-router, but is the gateway of no route",
                "ib0 of 'rtr2' has no IP address in the fabric network, so LNet cannot start on o2ib",
            ],
        ),
        (
            (*ROUTE, "gateways"),
            ["10.0.0.91@tcp5", "10.0.0.92@tcp5"],
            [
                f"'{host}' has no interface on LNet network tcp5, so it is no router between tcp5 and tcp"
                for host in ("rtr1", "rtr2")
            ],
        ),
        (
            (*ROUTE, "gateways"),
            ["10.9.0.91@tcp5", "10.9.0.92@tcp5"],
            [
                f"'{host}' has tcp5 and tcp on one interface, ens9: it leads to no other network"
                for host in ("rtr1", "rtr2")
            ],
        ),
        (
            (*ROUTE, "gateways"),
            ["10.1.0.91@o2ib", "10.1.0.81@o2ib"],
            ["rtr2 has the role lnet-router, but is the gateway of no route"],
        ),
        (
            ("storage", "lus", "clients"),
            ["slurm-compute", "lnet-router"],
            ["rtr[1-2] is a router of LNet and uses 'lus' as well"],
        ),
    ],
)
def test_a_router_that_cannot_forward_is_an_error(
    place: tuple[str | int, ...], value: Any, expected: list[str]
) -> None:
    messages = [item.message for item in diagnosed(altered(place, value)) if item.code == "lnet-router"]
    assert messages == expected


@pytest.mark.parametrize(
    ("gateways", "is_single"),
    [
        (["10.1.0.91@o2ib", "rtr2-ib0@o2ib"], False),
        (["10.1.0.91@o2ib", "rtr1-ib0@o2ib"], True),
        (["10.1.0.81@o2ib"], True),
    ],
)
def test_one_router_is_a_warning(gateways: list[str], is_single: bool) -> None:
    codes = [item.code for item in diagnosed(altered((*ROUTE, "gateways"), gateways))]
    assert ("lnet-router-single" in codes) is is_single


def test_a_client_without_a_way_to_the_routers_is_an_error() -> None:
    changed = data()
    changed["node_types"]["gpu"]["nics"] = []
    messages = [item.message for item in diagnosed(json.dumps(changed)) if item.code == "lnet-interface-missing"]
    assert messages == [
        "no RDMA interface of c1 is known in the fabric network, where the router 10.1.0.91@o2ib is, so 'lus' cannot be"
        " mounted"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edits", "verdict", "steps"),
    [
        (
            {"mlx5_1": "mlx5_5", "ens9": "ens8"},
            "needs a maintenance window for lnet.service; drains 1 node (c1); LNet pauses on 2 nodes (rtr[1-2]);"
            " no job is lost; step 1 is manual",
            [("LNet routers", "router by router: restart lnet.service", "rtr[1-2]")],
        ),
        (
            {"rtr[1-2]": "rtr[1,3]", "[91-92]": "[91,93]", "rtr2": "rtr3"},
            "needs a maintenance window for lnet.service; drains 1 node (c1); adds 1 node (rtr3);"
            " removes 1 node (rtr2); no job is lost; steps 1, 8 are manual",
            [
                ("Files", "restart lnet.service", "oss1"),
                ("Drained nodes", "restart lnet.service", "c1"),
                (
                    None,
                    "stop the routers that no route leads through now: 10.1.0.92@o2ib, 10.9.0.92@tcp; not before",
                    "c1,oss1",
                ),
            ],
        ),
    ],
)
def test_routers_change_one_by_one_and_run_until_no_node_uses_them(
    tmp_path: Path, edits: dict[str, str], verdict: str, steps: list[tuple[str | None, str, str]]
) -> None:
    old = json.dumps(data())
    sides = [write(tmp_path / "old", text=old), write(tmp_path / "new", *edits.items(), text=old)]
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    assert whole["verdict"] == verdict
    printed = [(step["play"], step["text"], step["hosts"]) for step in whole["steps"]]
    assert [step for step in printed if step in steps] == steps


def test_a_gateway_by_the_name_of_its_management_address_has_the_other_name_as_hint() -> None:
    text = altered((*ROUTE, "gateways"), ["rtr1@o2ib", "rtr2-ib0@o2ib"])
    hints = [item.hint for item in diagnosed(text) if item.code == "lnet-router"]
    assert hints == ["write its name or address in the fabric network: rtr1-ib0@o2ib"]
