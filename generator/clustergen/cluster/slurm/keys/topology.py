"""topology.conf or topology.yaml: the switches, so that jobs are placed on neighbouring nodes.

The fabric of the manifest is a graph: a leaf has cables to several spines. Slurm wants a tree, so switches above one
switch count as one: all spines together are one switch. Trees that are
still separate get a switch above them that clustergen adds.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domains
from clustergen.cluster.slurm.keys.line import Line, line, own_lines
from clustergen.cluster.slurm.keys.row import knows
from clustergen.cluster.slurm.scheduling import Topology
from clustergen.hostlist import compress, count
from clustergen.records import record

_FILE = "topology.conf"
TOP = "fabric"
NO_LEAF = "no-leaf"


@record
class TreeSwitch:
    """A line of the tree: nodes or switches below, never both."""

    name: str
    nodes: str = ""
    switches: str = ""


@record
class Block:
    name: str
    nodes: str


def topology_lines(cluster: Cluster) -> Iterator[Line]:
    """topology.conf: the manifest's own lines, or those of its switches."""
    spec, release = cluster.of(Topology), cluster.slurm.release
    if spec.lines:
        yield from own_lines(("slurm", "topology", "lines"), spec.lines)
    elif cluster.slurm.topology == "flat" or spec.format == "yaml":
        return
    elif cluster.slurm.topology == "block":
        for item in blocks(cluster):
            yield line(_FILE, release, [("BlockName", item.name), ("Nodes", item.nodes)])
        if knows(_FILE, "BlockSizes", release):
            yield line(_FILE, release, [("BlockSizes", ",".join(map(str, block_sizes(cluster))))])
    else:
        for switch in tree(cluster):
            pairs = [("SwitchName", switch.name), ("Nodes", switch.nodes), ("Switches", switch.switches)]
            yield line(_FILE, release, pairs)


def leaf_nodes(cluster: Cluster) -> dict[str, list[str]]:
    """Leaf → its nodes that run slurmd. Slurm takes a node in one leaf: the first that names it has it."""
    waiting = dict.fromkeys(cluster.hosts("slurm-compute"))
    nodes_of_leaf: dict[str, list[str]] = {}
    for leaf in cluster.slurm.leaves:
        assigned = [host for host in leaf.nodes if host in waiting]
        for host in assigned:
            del waiting[host]
        if assigned:
            nodes_of_leaf[leaf.name] = assigned
    if waiting:
        nodes_of_leaf[NO_LEAF] = list(waiting)
    return nodes_of_leaf


def tree(cluster: Cluster) -> list[TreeSwitch]:
    """Leaves first, in the manifest's order, the top last."""
    leaves = leaf_nodes(cluster)
    switches = _Merged(cluster)
    below: dict[str, list[str]] = {}
    nodes: dict[str, list[str]] = {}
    for name, hosts in leaves.items():
        nodes.setdefault(switches.one(name), []).extend(hosts)
    order = list(nodes)
    for name in order:
        if above := switches.parent(name):
            below.setdefault(above, []).append(name)
            if above not in order:
                order.append(above)
    lines = []
    for name in order:
        if name in nodes:
            leaf = f"{name}-nodes" if name in below else name  # a switch has nodes or switches
            lines.append(TreeSwitch(leaf, nodes=compress(nodes[name])))
            if name in below:
                below[name].append(leaf)
        if name in below:
            lines.append(TreeSwitch(name, switches=compress(below[name])))
    tops = [name for name in order if switches.parent(name) is None]
    if len(tops) > 1:
        lines.append(TreeSwitch(TOP, switches=compress(tops)))
    return lines


class _Merged:
    """Switches above one switch count as one, and so do those above them: what is left is a tree, or several."""

    def __init__(self, cluster: Cluster) -> None:
        self._uplinks = {switch.name: tuple(switch.uplinks) for switch in cluster.switches}
        self._uplinks |= {leaf.name: leaf.parents for leaf in cluster.slurm.leaves}  # those of all rails together
        self._first: dict[str, str] = {}
        self._members = {name: [name] for name in self._uplinks}
        merging = True
        while merging:
            merging = False
            for name in list(self._members):
                several = self._above(name) if name in self._members else []
                for other in several[1:]:
                    self._first[other] = several[0]
                    self._members[several[0]] += self._members.pop(other)
                    merging = True

    def one(self, name: str) -> str:
        """The switch that stands for it."""
        while name in self._first:
            name = self._first[name]
        return name

    def parent(self, name: str) -> str | None:
        above = [other for other in self._above(name) if other != name]
        return above[0] if above else None

    def _above(self, name: str) -> list[str]:
        tops = (top for member in self._members.get(name, ()) for top in self._uplinks[member])
        return list(dict.fromkeys(self.one(top) for top in tops))


def blocks(cluster: Cluster) -> list[Block]:
    stated = cluster.of(Topology).blocks
    if stated:
        return [Block(name, nodes) for name, nodes in stated.items()]
    return [Block(name, compress(nodes)) for name, nodes in _neighbours(cluster).items()]


def _neighbours(cluster: Cluster) -> dict[str, list[str]]:
    """NVLink domains that span nodes, each as a block; of all other nodes, those on one leaf."""
    imex_domains = domains(cluster)
    inside = {host for hosts in imex_domains.values() for host in hosts}
    outside = {name: [host for host in hosts if host not in inside] for name, hosts in leaf_nodes(cluster).items()}
    return imex_domains | {name: hosts for name, hosts in outside.items() if hosts}


def block_sizes(cluster: Cluster) -> tuple[int, ...]:
    """The size of the smallest block, or of a whole NVLink domain, and its doubles as far as there are blocks."""
    stated = cluster.of(Topology).block_sizes
    if stated:
        return stated
    sizes = block_counts(cluster)
    whole = (
        [] if cluster.of(Topology).blocks or not cluster.slurm.release.has("block-gaps") else domains(cluster).values()
    )
    base = max(map(len, whole), default=min(sizes, default=1))
    return tuple(base << level for level in range(len(sizes).bit_length()))


def block_counts(cluster: Cluster) -> list[int]:
    return [count(item.nodes) for item in blocks(cluster)]
