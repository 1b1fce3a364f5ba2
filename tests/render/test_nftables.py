"""The firewall: which ports a node opens to whom. The kernel judges the rules in tests/verify and tests/nodes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from strategies.trees import COMPUTE, HEAD, codes_of, manifest, node_files, tree_of

RULES = "/etc/clustergen-firewall/ports.d/"
RULE = re.compile(r"^add rule inet clustergen input (?:ip6? saddr @(\w+) )?(\w+) dport (\S+) accept$", re.MULTILINE)
MONITORED = {**HEAD, "roles": [*HEAD["roles"], "monitoring", "login"]}


def closed(**changes: Any) -> dict[str, Any]:
    return manifest(host={"firewall": "nftables"}, **changes)


def opened(tree: Any, host: str) -> set[tuple[str, str, str]]:
    """Source ("" for anyone), protocol and ports of all rules of a node."""
    texts = [file.content.decode() for path, file in node_files(tree, host).items() if path.startswith(RULES)]
    return {match for text in texts for match in RULE.findall(text)}


def test_each_group_opens_the_ports_of_its_services(tmp_path: Path) -> None:
    slurm = {"version": "24.11", "srun_ports": "60001-60100", "ports": {"slurmd": 7000}}
    tree = tree_of(closed(nodes=[MONITORED, COMPUTE], slurm=slurm), tmp_path)
    assert opened(tree, "head") == {
        *(("cluster", "tcp", port) for port in ("6817", "6819", "60001-60100", "9100", "9094")),
        *(("cluster", "udp", port) for port in ("123", "9094")),
        *(("", "tcp", port) for port in ("9090", "9093")),
    }
    assert opened(tree, "c1") == {
        *(("cluster", "tcp", port) for port in ("7000", "9100", "9400")),
        *(("compute", protocol, "1024-65535") for protocol in ("tcp", "udp")),
    }


def test_without_a_range_srun_has_that_of_the_kernel(tmp_path: Path) -> None:
    assert ("cluster", "tcp", "32768-60999") in opened(tree_of(closed(nodes=[MONITORED, COMPUTE]), tmp_path), "head")


def test_neighbouring_nodes_share_an_element(tmp_path: Path) -> None:
    nodes = [HEAD, {**COMPUTE, "name": "c[1-9]", "address": "10.0.0.[16-23,40]"}]
    text = node_files(tree_of(closed(nodes=nodes), tmp_path), "head")["/etc/clustergen-firewall/main.nft"].content
    assert re.findall(r"^ +(10\S+),$", text.decode(), re.MULTILINE) == ["10.0.0.0/24", "10.0.0.16/29", "10.0.0.40/32"]


@pytest.mark.parametrize("firewall", [True, False])
def test_it_is_off_unless_the_manifest_asks_for_it(tmp_path: Path, firewall: bool) -> None:
    files = node_files(tree_of(manifest(host={"firewall": firewall}), tmp_path), "head")
    assert not [path for path in files if "clustergen-firewall" in path or "nftables" in path]


def test_a_network_without_addresses_is_refused(tmp_path: Path) -> None:
    networks = {"management": {"domain": "cluster.local"}}
    nodes = [{key: value for key, value in node.items() if key != "address"} for node in (HEAD, COMPUTE)]
    data = closed(networks=networks, nodes=nodes)
    data["host"]["hosts_file"] = False
    assert "firewall-without-networks" in codes_of(data, tmp_path)
