"""Slurm's view of the fabric: leaves, islands, blocks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from clustergen.catalogue.slurm_values import has_plugin, plugin
from clustergen.catalogue.versions import since
from clustergen.cluster.model import Cluster, NodeGroup, Switch
from clustergen.cluster.nvlink import domains
from clustergen.cluster.slurm.scheduling import Topology
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.hostlist import compress, expand, span_of

_SWITCHES: ManifestPath = ("networks", "fabric", "switches")
_TOPOLOGY: ManifestPath = ("slurm", "topology")


def node_on_two_leaves(cluster: Cluster) -> Iterator[Finding]:
    """A node needs a port for each leaf; where its ports are unknown, leaves that serve the same nodes are rails."""
    compute = {host: group.type for group in cluster.compute for host in group.hosts}
    leaves: dict[str, list[Switch]] = {}
    for switch in cluster.switches:
        for host in dict.fromkeys(switch.nodes):
            if host in compute:
                leaves.setdefault(host, []).append(switch)
    served = {switch.name: frozenset(compute.keys() & set(switch.nodes)) for switch in cluster.switches}
    reported: set[tuple[str, int]] = set()
    for host, on in leaves.items():
        ports = len(compute[host].fabric_ports())
        are_rails = len({served[switch.name] for switch in on}) < 2
        if len(on) < 2 or len(on) <= ports or (are_rails and not ports):
            continue
        if not ports and cluster.slurm.topology == "flat":
            continue  # nobody knows its ports, and Slurm is not told of leaves
        first = on[0]
        last = next((switch for switch in on if served[switch.name] != served[first.name]), on[-1])
        if last.index is None or (first.name, last.index) in reported:
            continue  # a plan gives no node more leaves than ports
        reported.add((first.name, last.index))
        kind = compute[host].name
        if ports and are_rails and all(switch.rail is not None for switch in on):
            surplus = compress([switch.name for switch in on[ports:]])
            yield Finding(
                "rail-without-port",
                (*_SWITCHES, last.index, "nodes"),
                f"{len(on)} rails serve '{host}', but node type '{kind}' has {ports}"
                f" {'port' if ports == 1 else 'ports'} in the fabric",
                f"remove {surplus}, or list its ports under node_types.{kind}.nics",
                at=span_of(last.entry_nodes, host),
            )
            continue
        has = f"'{compute[host].name}' has {ports or 'no'} {'port' if ports == 1 else 'ports'} in the fabric"
        yield Finding(
            "node-on-two-leaves",
            (*_SWITCHES, last.index, "nodes"),
            f"'{host}' is already connected to '{first.name}'" + (f", and a {has}" if ports else ""),
            "list each node on one leaf, or set rail on leaves that serve the same nodes",
            at=span_of(last.entry_nodes, host),
        )


def node_without_switch(cluster: Cluster) -> Iterator[Finding]:
    """Nodes that have no port in the fabric are none of its business."""
    if not cluster.slurm.leaves or cluster.slurm.topology == "flat" or cluster.of(Topology).blocks:
        return
    on_leaf = {host for leaf in cluster.slurm.leaves for host in leaf.nodes}
    members = [group for group in cluster.compute if group.type.fabric_ports() or group.type.gpus]
    hint = "add the nodes to their leaf switches, or set slurm.topology: {plugin: flat}"
    yield from _missing("node-without-switch", members, on_leaf, "not connected to any fabric switch", hint)


def _missing(
    code: str, groups: Iterable[NodeGroup], present: Container[str], what: str, hint: str
) -> Iterator[Finding]:
    """A finding per group on its nodes that are not present."""
    for group in groups:
        if missing := [host for host in group.hosts if host not in present]:
            are = "is" if len(missing) == 1 else "are"
            message = f"{compress(missing)} {are} {what}"
            yield Finding(code, ("nodes", group.index, "name"), message, hint, at=span_of(group.entry, missing[0]))


def topology_not_joined(cluster: Cluster) -> Iterator[Finding]:
    """Islands of the fabric do no harm where no partition has nodes of two of them."""
    names = {switch.name for switch in cluster.switches}
    tops = {top for switch in cluster.switches for top in switch.uplinks}
    if cluster.slurm.topology != "tree" or not tops <= names:
        return
    island = _islands(cluster)
    reported: set[str] = set()
    for partition in cluster.slurm.partitions:
        first = None
        for leaf in cluster.slurm.leaves:
            if partition.hosts.isdisjoint(leaf.nodes):
                continue
            first = first or leaf
            if island[leaf.name] != island[first.name] and leaf.name not in reported:
                reported.add(leaf.name)
                switch = next(switch for switch in cluster.switches if switch.name == leaf.name)
                if switch.index is None:
                    continue  # a plan joins all its leaves
                yield Finding(
                    "topology-not-joined",
                    (*_SWITCHES, switch.index, "name"),
                    f"switches '{leaf.name}' and '{first.name}' are not connected, but partition '{partition.name}' has"
                    " nodes on both",
                    "add an uplink to the same switch to both, or define a partition for each",
                    at=span_of(switch.entry, leaf.name),
                )


def _islands(cluster: Cluster) -> dict[str, str]:
    """Switch → the first switch of its island: of all that are joined, by cables or by the nodes on them."""
    beside: dict[str, set[str]] = {switch.name: set(switch.uplinks) for switch in cluster.switches}
    owner: dict[str, str] = {}
    for switch in cluster.switches:
        beside[switch.name].update({owner.setdefault(host, switch.name) for host in switch.nodes})
    for name, others in list(beside.items()):
        for other in others:
            beside[other].add(name)
    island: dict[str, str] = {}
    for first in beside:
        queue = [] if first in island else [first]
        while queue:
            name = queue.pop()
            if name not in island:
                island[name] = first
                queue += beside[name]
    return island


def topology_blocks_unused(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.of(Topology)
    if cluster.slurm.topology != "block" and (spec.block_sizes or spec.blocks):
        yield Finding(
            "topology-blocks-unused",
            (*_TOPOLOGY, "blocks" if spec.blocks else "block_sizes"),
            f"no effect: the topology of this cluster is {cluster.slurm.topology}",
            "set plugin: block",
            key=True,
        )


def blocks(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.of(Topology)
    if (
        cluster.slurm.topology != "block"
        or not has_plugin("TopologyPlugin", "topology/block", cluster.slurm.release)
        or spec.lines
    ):
        return
    compute = dict.fromkeys(cluster.hosts("slurm-compute"))
    if spec.blocks:
        groups = {name: expand(text) for name, text in spec.blocks.items()}
        yield from _block_nodes(cluster, groups, compute)
        if not all(host in compute for hosts in groups.values() for host in hosts):
            return
    else:
        groups = domains(cluster) or {leaf.name: list(leaf.nodes) for leaf in cluster.slurm.leaves}
    if not groups:
        yield Finding(
            "topology-blocks-missing",
            (*_TOPOLOGY, "plugin"),
            "topology/block requires blocks, and neither blocks nor leaf switches are defined",
            "add them under slurm.topology.blocks",
        )
        return
    yield from _block_sizes(cluster, {name: sum(host in compute for host in hosts) for name, hosts in groups.items()})


def _block_nodes(cluster: Cluster, groups: Mapping[str, list[str]], compute: Mapping[str, None]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    wrong = False
    texts = cluster.of(Topology).blocks
    all_hosts = set(cluster.hosts())
    for name, hosts in groups.items():
        path: ManifestPath = (*_TOPOLOGY, "blocks", name)
        for host in hosts:
            at = span_of(texts[name], host) if host not in compute or host in seen else None
            if host not in compute:
                words = "does not run jobs" if host in all_hosts else "is not a node of this cluster"
                guess = None if host in all_hosts else did_you_mean(host, compute)
                yield Finding("block-node-unknown", path, f"'{host}' {words}", guess, at=at)
            elif host in seen:
                where = "in this block" if seen[host] == name else f"in block '{seen[host]}'"
                yield Finding("block-node-twice", path, f"'{host}' is already {where}", at=at)
            else:
                seen[host] = name
                continue
            wrong = True
            break
    if not wrong:
        what = "in no block, and Slurm starts jobs only on nodes in blocks"
        hint = "add every compute node to one of slurm.topology.blocks"
        yield from _missing("node-without-block", cluster.compute, seen, what, hint)


def _block_sizes(cluster: Cluster, counts: Mapping[str, int]) -> Iterator[Finding]:
    spec = cluster.of(Topology)
    path: ManifestPath = (*_TOPOLOGY, "block_sizes")
    base = spec.block_sizes[0] if spec.block_sizes else 0
    if not base:
        return
    for position, size in enumerate(spec.block_sizes):
        factor, rest = divmod(size, base)
        if rest or factor & (factor - 1) or factor > 1 << 15:
            yield Finding(
                "block-size",
                (*path, position),
                f"block size {size} is not {base} times a power of two",
                f"use {base * 2}, {base * 4}, {base * 8} … besides the base size {base}",
            )
    name, smallest = min(counts.items(), key=lambda item: item[1])
    if smallest < base and not cluster.slurm.release.has("block-gaps"):
        yield Finding(
            "block-too-small",
            (*path, 0),
            f"block '{name}' has {smallest} {'node' if smallest == 1 else 'nodes'}, fewer than the base block size",
            f"use at most {smallest or 1}, or Slurm {since('block-gaps')}, which allows gaps",
        )


def topology_too_new(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.of(Topology)
    block = plugin("TopologyPlugin", "topology/block")
    for key, stated, what, first in (
        ("plugin", cluster.slurm.topology == "block", "topology/block", block.since if block else None),
        ("format", spec.format == "yaml", "topology.yaml", since("topology-yaml")),
    ):
        if stated and first is not None and cluster.slurm.release < first:
            message = f"{what} requires Slurm {first} or newer; this is {cluster.slurm.release}"
            yield Finding("topology-too-new", (*_TOPOLOGY, key), message)


def lines_of_another_topology(cluster: Cluster) -> Iterator[Finding]:
    """slurmctld ends at lines of blocks where the plugin reads switches, and the other way round."""
    lines = cluster.of(Topology).lines
    keys = {key.lower() for line in lines for key in line}
    for plugin_name, key, other, code in (
        ("tree", "SwitchName", "block", "topology-without-switches"),
        ("block", "BlockName", "tree", "topology-blocks-missing"),
    ):
        if lines and cluster.slurm.topology == plugin_name and key.lower() not in keys:
            yield Finding(
                code,
                (*_TOPOLOGY, "lines"),
                f"topology/{plugin_name} requires a line with {key}; slurmctld does not start with these",
                f"add {{{key}: name, Nodes: n[1-4]}}, or set slurm.topology.plugin: {other}",
                key=True,
            )


def topology_without_switches(cluster: Cluster) -> Iterator[Finding]:
    if cluster.slurm.topology == "tree" and not cluster.slurm.leaves and not cluster.of(Topology).lines:
        yield Finding(
            "topology-without-switches",
            (*_TOPOLOGY, "plugin"),
            "topology/tree requires switches, and no switch with compute nodes is defined",
            "add them under networks.fabric.switches, or set plugin: flat",
        )
