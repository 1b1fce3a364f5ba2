"""The firewall opens a port for every service that a node of the tree runs, and the catalogue knows its port."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.catalogue.network import Port, ports
from clustergen.render.tree import Tree
from strategies.inventories import MANIFESTS
from strategies.pages import ROOT
from strategies.trees import COMPUTE, HEAD, manifest, node_files, tree_of

TREES = {**MANIFESTS, **{path.stem: path for path in sorted((ROOT / "tests/fixtures/verify").glob("*.yaml"))}}
SILENT = (  # units without a port: ours, those of hardware, and daemons on sockets of the node
    *("clustergen-*", "*.mount", "*.timer", "*.socket", "munge.service", "irqbalance.service", "docker.service"),
    *("nvidia-fabricmanager.service", "nvidia-mig-manager.service", "nvidia-persistenced.service"),
    *("opensm.service", "NetworkManager.service", "nfs-idmapd.service", "nut-monitor.service", "sssd.service"),
    *("zfs-zed.service", "cachefilesd.service"),
)
LISTENS_WITH = {  # services that run on all nodes, or that others name files after, and listen where this file is
    **dict.fromkeys(("jupyterhub", "jupyterhub-hub"), "/etc/clustergen/notebooks.json"),
    "chrony": "/etc/chrony/conf.d/50-clustergen.conf",
    "log-collector": "/etc/rsyslog.d/50-clustergen-collector.conf",
}
CLOSED = {name for name, row in ports().items() if row.peers == ("none",)} | {"ssh"}  # main.nft opens ssh's
DIRECTORY = "/etc/clustergen-firewall/ports.d/"
RULE = re.compile(r"^add rule inet clustergen input (?:ip6? saddr @?(\S+) )?(\w+) dport (\S+) accept$", re.MULTILINE)
MOUNTED = {"type": "beegfs", "version": "8.2", "mount": "/mnt/data", "mgmtd": "10.0.0.21"}


def closed_tree(name: str, directory: Path) -> Tree:
    """The tree of an example cluster or fixture, with the firewall."""
    text = TREES[name].read_text(encoding="utf-8")
    if not re.search(r"^host:.*(\n .*)*firewall: nftables", text, re.MULTILINE):
        text, count = re.subn(r"^host:\n", "host:\n  firewall: nftables\n", text, flags=re.MULTILINE)
        text += "" if count else "\nhost: {firewall: nftables}\n"
    path = directory / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    tree, diagnostics = compiler.render(compiler.validate(path), path)
    assert tree is not None, diagnostics
    return tree


def units_of(tree: Tree, host: str) -> set[str]:
    """Units that site.yml enables on a host."""
    variables = next(file for file in tree if file.path == "inventory/group_vars/all.yml")
    of_groups = yaml.safe_load(variables.content)["cluster_units"]
    return {unit for group, units in of_groups.items() if host in tree.groups.get(group, ()) for unit in units}


def names_of(tree: Tree, host: str) -> set[str]:
    """Names of units that a host's files are of: enabled ones, and those that a directory or a file is named after.

    A drop-in says nothing: nodes that mount a file system have one of slurmd without slurmd.
    """
    paths = (PurePosixPath(path) for path in node_files(tree, host) if ".service.d/" not in path)
    words = {part.split(".")[0] for path in paths for part in path.parts}
    return words | {unit.rpartition(".")[0] for unit in units_of(tree, host)}


def rules_of(tree: Tree, host: str) -> list[tuple[str, str, range]]:
    """Source, protocol and ports of each rule of a host."""
    texts = [file.content.decode() for path, file in node_files(tree, host).items() if path.startswith(DIRECTORY)]
    rules = []
    for source, protocol, span in (match for text in texts for match in RULE.findall(text)):
        first, _, last = span.partition("-")
        rules.append((source, protocol, range(int(first), int(last or first) + 1)))
    return rules


def is_open(port: Port, rules: list[tuple[str, str, range]]) -> bool:
    """True if its peers reach all ports in all protocols: people from everywhere, nodes from the cluster's networks."""
    sources = {("site",): {""}, ("compute",): {"", "cluster", "compute"}}.get(port.peers, {"", "cluster"})
    return all(
        any(
            port.port in span and (port.last or port.port) in span and protocol == name and source in sources
            for source, name, span in rules
        )
        for protocol in port.protocols
    )


def listens(port: Port, tree: Tree, host: str, names: set[str]) -> bool:
    if (file := LISTENS_WITH.get(port.name)) and file not in node_files(tree, host):
        return False
    if port.name == "alertmanager-cluster" and len(tree.groups["monitoring"]) == 1:
        return False
    return bool(names.intersection(port.units))


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", TREES)
def test_every_service_of_a_node_has_its_port_open(name: str, tmp_path: Path) -> None:
    tree = closed_tree(name, tmp_path)
    units = {unit for port in ports().values() for unit in port.units}
    for host in sorted({hosts[0] for hosts in tree.groups.values()}):
        others = {unit for unit in units_of(tree, host) if not any(fnmatch(unit, silent) for silent in SILENT)}
        assert {unit.rpartition(".")[0] for unit in others} <= units, "a port for ports.tsv, or SILENT"
        rules, names = rules_of(tree, host), names_of(tree, host)
        needed = [row for row in ports().values() if row.name not in CLOSED and listens(row, tree, host, names)]
        assert [row.name for row in needed if not is_open(row, rules)] == [], host


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rocky", "roce", "ml-training"])
def test_servers_of_every_file_system_open_ports(name: str, tmp_path: Path) -> None:
    """Also of those that no unit of the tree names, as cephadm starts its daemons."""
    tree = closed_tree(name, tmp_path)
    serving = {group for group in tree.groups if group.startswith(("serve_", "export_"))}
    assert serving
    assert serving <= {file.group for file in tree if file.target and file.target.startswith(DIRECTORY)}


SERVERS: dict[str, Any] = {"management": "s1", "metadata": "s1", "storage": "s1", "storage_directories": ["/st"]}
PORTS = {
    "8.2": ({}, {}, {"8008 tcp udp", "8010 tcp", "8005 tcp udp", "8003 tcp udp"}, {"8004 udp"}),
    "7.4": ({}, {}, {"8008 tcp udp", "8005 tcp udp", "8003 tcp udp"}, {"8004 udp"}),
    "8.3": (
        {"mgmtd": "10.0.0.21:9008", "client_options": {"connClientPort": 9004}},
        {"metadata_options": {"connMetaPort": 9005}, "storage_options": {"connPortShift": 1000}},
        {"9008 tcp udp", "8010 tcp", "9005 tcp udp", "9003 tcp udp"},
        {"9004 udp"},
    ),
    "7.4 with a port per protocol": (
        {"client_options": {"connClientPortUDP": 9004}},
        {"metadata_options": {"connMetaPortTCP": 9005}, "storage_options": {"connStoragePortUDP": 9003}},
        {"8008 tcp udp", "9005 tcp", "8005 udp", "8003 tcp", "9003 udp"},
        {"9004 udp"},
    ),
}


def with_server(**storage: Any) -> dict[str, Any]:
    roles = ["nfs-server"] if "home" in storage else []
    server = {"name": "s1", "type": "service", "address": "10.0.0.21", "roles": roles}
    return manifest(nodes=[HEAD, COMPUTE, server], storage=storage, host={"firewall": "nftables"})


def spans(tree: Tree, group: str) -> set[str]:
    """Ports and protocols of a group's file."""
    text = next(file.content for file in tree if file.target == f"{DIRECTORY}{group}.nft").decode()
    values: dict[str, list[str]] = {}
    for _, protocol, span in RULE.findall(text):
        values.setdefault(span, []).append(protocol)
    return {" ".join((span, *protocols)) for span, protocols in values.items()}


@pytest.mark.parametrize("case", PORTS)
def test_beegfs_has_the_ports_of_its_release_and_its_settings(case: str, tmp_path: Path) -> None:
    fields, more, served, mounted = PORTS[case]
    entry = {**MOUNTED, "version": case.split()[0], **fields, "servers": {**SERVERS, **more}}
    tree = tree_of(with_server(data=entry), tmp_path)
    assert spans(tree, "serve_data") == served
    assert spans(tree, "mount_data") == mounted


def test_the_second_beegfs_of_a_client_has_a_port_of_its_own(tmp_path: Path) -> None:
    storage = {"data": MOUNTED, "old": {**MOUNTED, "mount": "/mnt/old", "mgmtd": "10.0.0.22"}}
    tree = tree_of(with_server(**storage), tmp_path)
    assert spans(tree, "mount_old") == {"8014 udp"}
    assert b"connClientPort = 8014\n" in re.sub(
        rb" +", b" ", node_files(tree, "c1")["/etc/beegfs/beegfs-client-old.conf"].content
    )


@pytest.mark.slow
def test_an_export_to_other_networks_is_open_to_them(tmp_path: Path) -> None:
    home = {"type": "nfs", "server": "s1", "path": "/srv/home", "mount": "/home"}
    home |= {"port": 2050, "export": {"networks": ["10.0.0.0/24", "10.9.0.0/16", "fd00:9::/64"]}}
    text = node_files(tree_of(with_server(home=home), tmp_path), "s1")[f"{DIRECTORY}export_home.nft"].content.decode()
    assert {source for source, _, span in RULE.findall(text) if span == "2050"} == {
        *("cluster", "10.9.0.0/16", "fd00:9::/64")
    }


@pytest.mark.parametrize("value", ["8005 accept; drop", "", -5, 99999999, "9" * 20])
def test_values_that_are_no_ports_leave_the_rules_valid(value: object, tmp_path: Path) -> None:
    data = with_server(data={**MOUNTED, "servers": {**SERVERS, "metadata_options": {"connMetaPort": value}}})
    assert spans(tree_of(data, tmp_path), "serve_data") == PORTS["8.2"][2]
