"""Interfaces of the operating system: the forms of each node type. `verify`'s parsers judge their syntax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from strategies.trees import GPU, HEAD, codes_of, manifest, node_files, text_of, tree_of

TABLE = "/etc/clustergen-network/interfaces"
COMPUTE = {"name": "c[1-4]", "type": "gpu", "address": "10.0.0.[11-14]", "addresses": {"storage": "10.2.0.[11-14]"}}
STORAGE = {"cidr": "10.2.0.0/24", "interface": "bond0.20", "vlan": 20, "bond": {"ports": ["e1", "e2"]}}


def data(os: str = "ubuntu-24.04", nics: list[dict[str, str]] | None = None, **storage: Any) -> dict[str, Any]:
    storage = {**STORAGE, "configure": True, **storage}
    networks = {
        "management": {"cidr": "10.0.0.0/24", "interface": "eno1", "gateway": "10.0.0.254", "configure": True},
        "storage": {key: value for key, value in storage.items() if value is not None},
    }
    kind = {**GPU, "nics": nics or []}
    slurm = {"version": "24.11", "build": "schedmd"}
    host = {"ssh_adopt": os != "rocky-9"}
    return manifest(os=os, networks=networks, nodes=[HEAD, COMPUTE], node_types={"gpu": kind}, slurm=slurm, host=host)


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


def test_files_are_the_same_on_all_nodes_of_a_type(tmp_path: Path) -> None:
    tree = tree_of(data(), tmp_path)
    assert rows(text_of(tree, "c1", TABLE)) == [
        ["management", "-", "eno1", "eno1"],
        ["storage", "-st", "e1,e2", "e1,e2,bond0,bond0.20"],
    ]
    assert rows(text_of(tree, "head", TABLE)) == [["management", "-", "eno1", "eno1"]], "it has no storage address"
    for path, file in node_files(tree, "c1").items():
        if path.startswith("/etc/clustergen-network/") and path != TABLE:
            assert file.mode == 0o600
            assert b"10.2.0.11" not in file.content


@pytest.mark.parametrize(
    ("os", "files"),
    [
        ("ubuntu-24.04", {"60-clustergen-storage.yaml"}),
        ("debian-13", {"clustergen-storage"}),
        ("rocky-9", {f"clustergen-storage-{name}.nmconnection" for name in ("e1", "e2", "bond0", "bond0.20")}),
    ],
)
def test_each_system_has_its_own_form(tmp_path: Path, os: str, files: set[str]) -> None:
    directory = "/etc/clustergen-network/storage/"
    names = node_files(tree_of(data(os), tmp_path), "c1")
    assert {name.removeprefix(directory) for name in names if name.startswith(directory)} == files


@pytest.mark.slow
def test_a_bond_without_stated_ports_has_those_of_the_node_type(tmp_path: Path) -> None:
    nics = [{"device": name, "network": "storage"} for name in ("x1", "x2")]
    tree = tree_of(data(nics=nics, bond={}), tmp_path)
    assert rows(text_of(tree, "c1", TABLE))[1] == ["storage", "-st", "x1,x2", "x1,x2,bond0,bond0.20"]
    single = data(nics=nics[:1])
    del single["networks"]["storage"]["bond"]
    assert rows(text_of(tree_of(single, tmp_path), "c1", TABLE))[1] == ["storage", "-st", "x1", "x1,x1.20"]


@pytest.mark.parametrize(
    ("storage", "fabric"),
    [
        ({"gateway": "10.2.0.254", "routes": ["0.0.0.0/0"]}, False),
        ({"gateway": "10.2.0.254", "routes": ["10.0.0.0/16"]}, False),
        ({"gateway": "fd00:2::1", "cidr": "fd00:2::/64", "routes": ["10.3.0.0/16"]}, False),
        ({"interface": "enp129s0f1np1np1.20"}, False),
        ({"bond": {"ports": ["fab0", "e2"]}}, True),
        ({"bond": {"ports": ["eno1", "e2"]}}, False),
        ({"bond": {"ports": ["e1", "e1"]}}, False),
        ({"bond": {"ports": ["lo", "e2"]}}, False),
        ({"bond": None, "interface": "eno1.20", "mtu": 9000}, False),
    ],
)
def test_interfaces_that_cut_a_node_off_are_refused(tmp_path: Path, storage: dict[str, Any], fabric: bool) -> None:
    nics = [{"device": "mlx5_0", "interface": "fab0", "network": "fabric"}] if fabric else None
    wrong = data(nics=nics, **storage)
    if fabric:
        wrong["networks"]["fabric"] = {"type": "roce", "rate": "400Gb/s"}
    if "cidr" in storage:
        wrong["nodes"][1] = {**COMPUTE, "addresses": {"storage": "fd00:2::[11-14]"}}
    assert "interface-not-configurable" in codes_of(wrong, tmp_path)


@pytest.mark.parametrize(("mtu", "refused"), [(9000, True), (1500, False), (None, False)])
def test_a_vlan_fits_into_the_port_that_it_shares(tmp_path: Path, mtu: int | None, refused: bool) -> None:
    shared = data(bond=None, interface="eno1.20", mtu=mtu)
    assert ("interface-not-configurable" in codes_of(shared, tmp_path)) is refused
    shared["networks"]["management"]["mtu"] = 9000
    assert "interface-not-configurable" not in codes_of(shared, tmp_path)


@pytest.mark.slow
def test_stated_ports_of_a_bond_are_some_of_those_that_the_node_type_lists(tmp_path: Path) -> None:
    nics = [{"device": name, "network": "storage"} for name in ("e1", "e2", "e3")]
    assert rows(text_of(tree_of(data(nics=nics), tmp_path), "c1", TABLE))[1][2] == "e1,e2"
    assert "interface-not-configurable" in codes_of(data(nics=nics, bond={"ports": ["e1", "e4"]}), tmp_path)


def test_a_bond_that_both_networks_share_is_defined_once(tmp_path: Path) -> None:
    shared = data(bond=None)
    bond = {"interface": "bond0.10", "vlan": 10, "bond": {"ports": ["e1", "e2"]}}
    shared["networks"]["management"] |= bond
    tree = tree_of(shared, tmp_path)
    assert rows(text_of(tree, "c1", TABLE)) == [
        ["management", "-", "e1,e2", "e1,e2,bond0,bond0.10"],
        ["storage", "-st", "bond0", "bond0,bond0.20"],
    ]
    text = text_of(tree, "c1", "/etc/clustergen-network/storage/60-clustergen-storage.yaml")
    assert list(yaml.safe_load(text)["network"]) == ["version", "vlans"]


@pytest.mark.parametrize("alone", [True, False])
def test_ifupdown_sets_the_mtu_below_a_vlan_that_has_the_port_alone(tmp_path: Path, alone: bool) -> None:
    manifest = data("debian-13", bond=None, interface="eno2.20" if alone else "eno1.20", mtu=9000)
    manifest["networks"]["management"]["mtu"] = 9000
    text = text_of(tree_of(manifest, tmp_path), "c1", "/etc/clustergen-network/storage/clustergen-storage")
    assert ("pre-up ip link set dev eno2 mtu 9000" in text) is alone
    assert ("pre-up" in text) is alone


def test_routes_behind_the_gateway_are_no_finding(tmp_path: Path) -> None:
    right = data(gateway="10.2.0.254", routes=["10.3.0.0/16", "192.0.2.0/24"])
    assert "interface-not-configurable" not in codes_of(right, tmp_path)
