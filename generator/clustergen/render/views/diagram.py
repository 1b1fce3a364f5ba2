"""The cluster as a Mermaid diagram, with a box per entry of nodes and per kind of switch, so that it stays small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from clustergen.cluster.groups import clients_of, targets_on
from clustergen.cluster.model import Cluster, Switch
from clustergen.hostlist import compress
from clustergen.records import record

MOST_BOXES = 12
"""Entries of nodes with a box each; with more, a node type has one box."""
_NAMED_HOSTS = 40  # characters of a folded list


@record
class Box:
    """A box of the diagram; its kind decides its shape."""

    id: str
    label: str
    kind: Literal["nodes", "switches", "storage"]


@record
class Diagram:
    """Boxes, and lines between two of them with a label, which may be empty."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[str, str, str], ...]


def diagram(cluster: Cluster) -> Diagram:
    nodes = _node_boxes(cluster)
    boxes = [Box(f"n{i}", label, "nodes") for i, (label, _) in enumerate(nodes)]
    number = {host: f"n{i}" for i, (_, hosts) in enumerate(nodes) for host in hosts}
    edges: dict[tuple[str, str], str] = {}
    if cluster.switches:
        groups = _switch_groups(cluster.switches)
        boxes += [Box(f"s{i}", _switch_label(group), "switches") for i, group in enumerate(groups)]
        edges |= _switch_edges(groups, number)
    elif fabric := cluster.networks.fabric:
        boxes.append(Box("fabric", " ".join(filter(None, (fabric.type, fabric.rate))), "switches"))
        edges |= {(number[group.hosts[0]], "fabric"): "" for group in cluster.groups if group.type.fabric_ports()}
    for i, (name, entry) in enumerate(cluster.storage.items()):
        clients = {number[group.hosts[0]] for group in clients_of(cluster, name)}
        if clients:
            boxes.append(Box(f"f{i}", f"{entry.mount}<br/>{entry.type}", "storage"))
            edges |= {(client, f"f{i}"): "" for client in sorted(clients, key=lambda box: int(box[1:]))}
            servers = (number[group.hosts[0]] for group in cluster.groups if name in targets_on(cluster, group))
            edges |= {(server, f"f{i}"): "serves" for server in servers}
    return Diagram(tuple(boxes), tuple((one, two, label) for (one, two), label in edges.items()))


def _switch_groups(switches: tuple[Switch, ...]) -> list[list[Switch]]:
    """Switches of one level and one model: a fabric of 100 leaves is one box of leaves below one of spines."""
    groups: dict[tuple[int, str], list[Switch]] = {}
    for switch, level in levels(switches):
        groups.setdefault((level, switch.model or ""), []).append(switch)
    return [groups[key] for key in sorted(groups)]


def _switch_label(group: Sequence[Switch]) -> str:
    rails = sorted({rail for switch in group for rail in switch.rails})
    of_rails = f"rails {rails[0]} to {rails[-1]}" if len(rails) > 1 else ""
    return "<br/>".join(filter(None, (_names([switch.name for switch in group]), group[0].model, of_rails)))


def _switch_edges(groups: Sequence[Sequence[Switch]], number: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Lines from nodes to leaves, and from leaves up with the number of their cables."""
    box_of = {switch.name: f"s{i}" for i, group in enumerate(groups) for switch in group}
    edges: dict[tuple[str, str], str] = {}
    cables: dict[tuple[str, str], int] = {}
    for i, group in enumerate(groups):
        for switch in group:
            edges |= {(number[host], f"s{i}"): "" for host in switch.nodes if host in number}
            for top, count in switch.uplinks.items():
                if box_of.get(top, f"s{i}") != f"s{i}":
                    cables[f"s{i}", box_of[top]] = cables.get((f"s{i}", box_of[top]), 0) + count
    return edges | {edge: f"{count} cables" if count > 1 else "1 cable" for edge, count in cables.items()}


def _node_boxes(cluster: Cluster) -> list[tuple[str, list[str]]]:
    """Label and hosts of each entry of the manifest, or of each node type where there are many entries."""
    if len(cluster.groups) <= MOST_BOXES:
        parts = [(list(group.hosts), group.type, group.roles) for group in cluster.groups]
    else:
        parts = [
            ([host for group in cluster.of_type[node_type.name] for host in group.hosts], node_type, ())
            for node_type in cluster.node_types
        ]
    boxes = []
    for hosts, node_type, roles in parts:
        gpus = f"{node_type.gpus.count} × {node_type.gpus.model.nvml_name}" if node_type.gpus else ""
        what = ", ".join(role for role in roles if role != "slurm-compute")
        boxes.append(("<br/>".join(filter(None, (_names(hosts), gpus, what))), hosts))
    return boxes


def levels(switches: tuple[Switch, ...]) -> list[tuple[Switch, int]]:
    """Each switch with its steps up from the leaves; a circle of uplinks is followed for a round per switch."""
    level = {switch.name: 0 for switch in switches}
    for _ in switches:
        before = dict(level)
        for switch in switches:
            for top in switch.uplinks:
                if top in level:
                    level[top] = max(level[top], before[switch.name] + 1)
        if level == before:
            break
    return [(switch, level[switch.name]) for switch in switches]


def shortened(names: Sequence[str]) -> str:
    """The names folded, or the first and the last where that is long."""
    folded = compress(names) if names else ""
    return folded if len(folded) <= _NAMED_HOSTS else f"{names[0]} … {names[-1]}"


def _names(hosts: Sequence[str]) -> str:
    return shortened(hosts) if len(hosts) == 1 else f"{shortened(hosts)} ({len(hosts)})"
