"""Another management network: nodes keep their place in it, and every other mention of them follows."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import pytest

from clustergen.diagnostics import ClustergenError
from clustergen.lab.subnet import addressed, gateway, moved, network
from clustergen.manifest.source import load

INVENTORIES = Path(__file__).parents[2] / "inventories"


def document(name: str) -> dict[str, Any]:
    data = load(INVENTORIES / name / "manifest.yaml").data
    assert isinstance(data, dict)
    return data


def test_all_network_addresses_move_and_nothing_else() -> None:
    result = moved(document("ml-training"), ipaddress.ip_network("10.89.7.0/24"))
    management = result["networks"]["management"]
    assert management["cidr"] == "10.89.7.0/24"
    assert (management["gateway"], management["dns"]) == ("10.89.7.254", ["10.89.7.253"])
    assert result["nodes"][0]["address"] == "10.89.7.1"
    assert result["nodes"][-1]["address"] == "10.89.7.[11-18]"
    assert result["nodes"][-1]["addresses"] == {"bmc": "10.0.9.[11-18]", "fabric": "10.1.0.[11-18]"}
    assert result["storage"]["training"]["mgs"] == ["10.1.0.21@o2ib"]
    assert result["monitoring"] == document("ml-training")["monitoring"]


def test_addresses_in_keys_and_lists_move_too() -> None:
    result = moved(document("midrange-weka"), ipaddress.ip_network("192.168.77.0/24"))
    assert result["host"]["extra_hosts"]["192.168.77.31"] == ["weka1"]
    exports = moved(document("a6000-quad"), ipaddress.ip_network("10.89.8.0/24"))["storage"]["home"]["export"]
    assert exports["networks"] == ["192.168.12.0/24", "10.89.8.0/24"]


def test_a_smaller_network_does_where_the_nodes_fit() -> None:
    result = moved(document("ml-training"), ipaddress.ip_network("10.89.7.64/27"))
    assert result["nodes"][-1]["address"] == "10.89.7.[75-82]"


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ("10.0.0.11/32", "10.89.7.11/32"),
        ("10.0.0.254/32", "10.89.7.254/32"),
        ("10.0.0.128/25", "10.89.7.128/25"),
        ("10.0.0.0/24", "10.89.7.0/24"),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("10.0.1.11/32", "10.0.1.11/32"),
        ("fd00::/64", "fd00::/64"),
    ],
)
def test_an_export_to_some_nodes_follows_them(network: str, expected: str) -> None:
    data = document("a6000-quad")
    data["networks"]["management"] = {"cidr": "10.0.0.0/24"}
    data["storage"]["home"]["export"]["networks"] = [network]
    result = moved({**data, "nodes": []}, ipaddress.ip_network("10.89.7.0/24"))
    assert result["storage"]["home"]["export"]["networks"] == [expected]


def test_a_part_that_a_smaller_network_does_not_have_is_all_of_it() -> None:
    data = document("a6000-quad")
    data["networks"]["management"] = {"cidr": "10.0.0.0/24"}
    data["storage"]["home"]["export"]["networks"] = ["10.0.0.128/25", "10.0.0.0/29"]
    result = moved({**data, "nodes": []}, ipaddress.ip_network("10.89.7.32/27"))
    assert result["storage"]["home"]["export"]["networks"] == ["10.89.7.32/27", "10.89.7.32/29"]


def test_a_network_that_is_too_small_is_reported() -> None:
    data = document("ml-training")
    data["networks"]["management"] = {"cidr": "10.0.0.0/24"}
    with pytest.raises(ClustergenError, match="does not fit into") as answer:
        moved(data, ipaddress.ip_network("10.89.7.0/28"))
    assert answer.value.exit_code == 2


@pytest.mark.parametrize(("last", "expected"), [(30, "10.89.7.62"), (31, None), (254, "10.89.7.62")])
def test_no_address_becomes_that_of_the_network_or_its_broadcast(last: int, expected: str | None) -> None:
    data = {"networks": {"management": {"cidr": "10.0.0.0/24", "gateway": f"10.0.0.{last}"}}}
    smaller = ipaddress.ip_network("10.89.7.32/27")
    if expected is None:
        with pytest.raises(ClustergenError, match="does not fit into"):
            moved(data, smaller)
    else:
        assert moved(data, smaller)["networks"]["management"]["gateway"] == expected


@pytest.mark.parametrize("text", ["10.89.7.1/24", "10.89.7.0/33", "here", ""])
def test_no_network(text: str) -> None:
    with pytest.raises(ClustergenError) as answer:
        network(text, "--subnet")
    assert answer.value.exit_code == 2


def test_the_bridge_takes_an_unused_address() -> None:
    data = document("ml-training")
    assert gateway(data, {"10.0.0.1"}) == "10.0.0.254"
    assert gateway(data, {"10.0.0.254"}) == "10.0.0.253"
    del data["networks"]["management"]["gateway"]
    assert gateway(data, set()) == "10.0.0.254"
    data["networks"]["management"]["cidr"] = "10.0.0.0/30"
    with pytest.raises(ClustergenError, match="no free address"):
        gateway(data, {"10.0.0.1", "10.0.0.2"})


def _without_network(*addresses: str | None) -> dict[str, Any]:
    entries = [{"name": name} for name in ("head", "n[1-2]")]
    for entry, address in zip(entries, addresses, strict=True):
        entry.update({} if address is None else {"address": address})
    return {"networks": {"management": {"domain": "example.org"}}, "nodes": entries}


@pytest.mark.parametrize(
    ("addresses", "option", "cidr", "last"),
    [
        (["10.0.0.5", "10.0.0.[8-9]"], None, "10.0.0.0/24", "10.0.0.[8-9]"),
        (["10.0.0.5", "10.0.1.[8-9]"], None, "10.0.0.0/23", "10.0.1.[8-9]"),
        (["10.99.0.1", None], "10.99.0.0/29", "10.99.0.0/29", "10.99.0.[2-3]"),
    ],
)
def test_a_manifest_without_a_network_gets_one(
    addresses: list[str | None], option: str | None, cidr: str, last: str
) -> None:
    result = addressed(_without_network(*addresses), option)
    assert result["networks"]["management"] == {"domain": "example.org", "cidr": cidr}
    assert result["nodes"][1]["address"] == last


@pytest.mark.parametrize(
    ("addresses", "option", "message"),
    [
        (["10.0.0.5", "10.9.1.[8-9]"], None, "its nodes have no addresses in one"),
        (["10.0.0.5", None], None, "its nodes have no addresses in one"),
        ([None, None], "10.99.0.0/30", "10.99.0.0/30 has no addresses for all nodes"),
    ],
)
def test_nodes_without_addresses_need_an_option(addresses: list[str | None], option: str | None, message: str) -> None:
    with pytest.raises(ClustergenError, match=message) as error:
        addressed(_without_network(*addresses), option)
    assert "--subnet" in (error.value.hint or "")
