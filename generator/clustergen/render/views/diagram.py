"""The cluster as a Mermaid diagram: boxes for entries of the manifest, not for nodes, so that it stays small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster, Switch
from clustergen.hostlist import compress
from clustergen.records import record

MOST_BOXES = 12
"""Boxes of one kind; more become one box per node type, or per level of switches."""
_NAMED_HOSTS = 40  # characters of a folded list


@record
class Box:
    """A node of the diagram; what it is decides its shape."""

    id: str
    label: str
    kind: Literal["nodes", "switches", "storage"]


@record
class Diagram:
    """Boxes, and lines between them."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[str, str], ...]


def diagram(cluster: Cluster) -> Diagram:
    nodes = _node_boxes(cluster)
    switches = _switch_boxes(cluster)
    boxes = [Box(f"n{i}", label, "nodes") for i, (label, _) in enumerate(nodes)]
    edges: dict[tuple[str, str], None] = {}
    number = {host: f"n{i}" for i, (_, hosts) in enumerate(nodes) for host in hosts}
    place = {switch.name: f"s{i}" for i, group in enumerate(switches) for switch in group}
    for i, group in enumerate(switches):
        label = "<br/>".join(filter(None, (_names([switch.name for switch in group]), group[0].model)))
        boxes.append(Box(f"s{i}", label, "switches"))
        for switch in group:
            for top in switch.uplinks:
                if top in place and place[top] != f"s{i}":
                    edges[f"s{i}", place[top]] = None
            for host in switch.nodes:
                if host in number:
                    edges[number[host], f"s{i}"] = None
    if not switches and cluster.manifest.networks.fabric:
        fabric = cluster.manifest.networks.fabric
        boxes.append(Box("fabric", " ".join(filter(None, (fabric.type, fabric.rate))), "switches"))
        plugged = {group.hosts[0] for group in cluster.groups if group.type.fabric_ports()}
        for i, (_, hosts) in enumerate(nodes):
            if not plugged.isdisjoint(hosts):
                edges[f"n{i}", "fabric"] = None
    for i, (name, entry) in enumerate(cluster.manifest.storage.items()):
        clients = {number[group.hosts[0]] for group in cluster.groups if name in mounts(cluster, group)}
        if clients:
            boxes.append(Box(f"f{i}", f"{entry.mount}<br/>{entry.type}", "storage"))
            edges |= {(client, f"f{i}"): None for client in sorted(clients, key=lambda box: int(box[1:]))}
    return Diagram(tuple(boxes), tuple(edges))


def _node_boxes(cluster: Cluster) -> list[tuple[str, list[str]]]:
    """Label and hosts: an entry of the manifest each, or a node type each where there are many."""
    if len(cluster.groups) <= MOST_BOXES:
        parts = [(list(group.hosts), group.type, group.roles) for group in cluster.groups]
    else:
        parts = [
            ([host for group in cluster.of_type[kind.name] for host in group.hosts], kind, ())
            for kind in cluster.node_types
        ]
    boxes = []
    for hosts, kind, roles in parts:
        gpus = f"{kind.gpus.count} × {kind.gpus.model.nvml_name}" if kind.gpus else ""
        what = ", ".join(role for role in roles if role != "slurm-compute")
        boxes.append(("<br/>".join(filter(None, (_names(hosts), gpus, what))), hosts))
    return boxes


def _switch_boxes(cluster: Cluster) -> list[list[Switch]]:
    """Switches by entry of the manifest, or by level where there are many."""
    by_entry: dict[int, list[Switch]] = {}
    for switch in cluster.switches:
        by_entry.setdefault(switch.index, []).append(switch)
    if len(by_entry) <= MOST_BOXES:
        return list(by_entry.values())
    by_level: dict[int, list[Switch]] = {}
    for switch, level in levels(cluster.switches):
        by_level.setdefault(level, []).append(switch)
    return [by_level[level] for level in sorted(by_level)]


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
