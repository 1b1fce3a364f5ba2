"""The capacity of the fabric, and the least time of an all-reduce and of a checkpoint.

Times are those of the wire, bytes over the narrowest way, and of an all-reduce also the latency of its steps. Measured
all-reduces over eight NDR ports reach 70 to 90 % of it. Rates of links are bits, sizes of messages bytes; the types do
not mix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from clustergen.catalogue.figures import figure
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster, NodeType, Switch, once_per_cluster
from clustergen.cluster.nvlink import domain_nodes
from clustergen.facility.cabling import cables
from clustergen.records import record
from clustergen.units import BitRate, ByteRate, Bytes


@record
class Bisection:
    """The rate that two halves of the nodes exchange in one direction, and node ports to uplinks of the
    narrowest tier.
    """

    rate: BitRate
    ratio: float


@record
class Estimate:
    """One all-reduce over all GPUs of a type, in seconds, with the latency of its steps."""

    size: Bytes
    ring_s: float
    tree_s: float | None  # None inside one node


@record
class AllReduce:
    """The GPUs of a node type that reduce together, the bandwidth of their bus, and times by size."""

    type: str
    nodes: int
    gpus: int
    rails: int
    bus: ByteRate
    limit: str  # NVLink or the fabric: what is narrower
    ring_latency_s: float
    tree_latency_s: float | None  # None inside one node
    times: tuple[Estimate, ...]


@once_per_cluster
def bisection(cluster: Cluster) -> Bisection | None:
    """The least of all tiers: each switch passes on what its lower or its upper ports carry. None without switches, or
    with a cable of unknown rate.

    A fat tree of n nodes with r rails of rate b has n x r x b / 2, and an r:1 leaf divides that by r.
    """
    below: dict[str, int] = {}
    above: dict[str, int] = {}
    nodes = 0
    switches = {switch.name for switch in cluster.switches}
    for cable in cables(cluster):
        if cable.network != "fabric":
            continue
        rate = cable.gbit
        if rate is None:
            return None
        below[cable.b.device] = below.get(cable.b.device, 0) + rate
        if cable.a.device in switches:
            above[cable.a.device] = above.get(cable.a.device, 0) + rate
        else:
            nodes += rate
    if not nodes:
        return None
    least, ratio = nodes, 1.0
    for tier in _tiers(cluster.switches):
        joined = [name for name in tier if above.get(name)]  # rates may be unknown
        carried = sum(min(below.get(name, 0), above[name]) for name in joined)
        if joined:
            least = min(least, carried)
            ratio = max(ratio, *(below.get(name, 0) / above[name] for name in joined))
    return Bisection(BitRate(least * 10**9 // 2), ratio)


def _tiers(switches: Sequence[Switch]) -> list[list[str]]:
    """Switches by their distance from the nodes."""
    tops = {switch.name: tuple(switch.uplinks) for switch in switches}
    tiers: list[list[str]] = []
    current = [switch.name for switch in switches if switch.nodes]
    seen: set[str] = set()
    while current:
        tiers.append(current)
        seen.update(current)
        following = dict.fromkeys(top for name in current for top in tops.get(name, ()) if top in tops)
        current = [name for name in following if name not in seen]
    return tiers


def ring_seconds(size: Bytes, ranks: int, bus: ByteRate) -> float:
    """A ring: 2 (n - 1) / n x size / bus bandwidth, as nccl-tests defines the bus bandwidth of an all-reduce."""
    return 2 * (ranks - 1) / ranks * size.value / bus.value


def ring_latency(gpus: int, nodes: int) -> float:
    """2 (n - 1) steps, of which 2 (nodes - 1) go from node to node, as NCCL's tuning counts them."""
    outer = 2 * (nodes - 1)
    return (_latency("ring_nvlink") * (2 * (gpus - 1) - outer) + _latency("ring_net") * outer) / 10**6


def tree_latency(gpus: int, nodes: int) -> float:
    """Up and down: a chain through the GPUs of a node, then log2(nodes) levels of a tree."""
    levels = math.ceil(math.log2(nodes)) if nodes > 1 else 0
    return 2 * (_latency("tree_nvlink") * (gpus / nodes - 1) + _latency("tree_net") * levels) / 10**6


def _latency(way: str) -> float:
    """Of one step, in µs."""
    return figure(f"latency_{way}")


def tree_seconds(size: Bytes, bus: ByteRate) -> float:
    """A double binary tree: each node sends and receives the message twice, so 2 x size / bandwidth (NCCL's tuning)."""
    return 2 * size.value / bus.value


def all_reduces(cluster: Cluster, sizes: Sequence[Bytes] = ()) -> tuple[AllReduce, ...]:
    """For each node type with GPUs, one inside a node and one over all nodes, of the manifest's sizes by default.

    Rings over several nodes take all fabric ports of a node in parallel, and NVLink inside the nodes. Where NVLink
    spans nodes, one more is over a domain, and a ring leaves each domain by the ports of all its nodes.
    """
    fabric = cluster.networks.fabric
    rate = fabric.rate_gbit if fabric else None
    several = []
    for node_type in cluster.gpu_types:
        count = sum(len(group.hosts) for group in cluster.of_type[node_type.name] if group.has("slurm-compute"))
        for nodes in dict.fromkeys((1, min(domain_nodes(node_type), count), count)):
            one = _all_reduce(node_type, nodes, rate, sizes or cluster.of(Facility).all_reduce)
            several += [one] if one else []
    return tuple(several)


def _all_reduce(node_type: NodeType, nodes: int, rate: int | None, sizes: Sequence[Bytes]) -> AllReduce | None:
    gpus = nodes * (node_type.gpus.count if node_type.gpus else 0)
    way = _bus(node_type, nodes, rate) if gpus > 1 else None
    if way is None:
        return None
    bus, limit = way
    outer = nodes // domain_nodes(node_type) if nodes > domain_nodes(node_type) else 1  # a ring leaves only domains
    ring, tree = ring_latency(gpus, outer), tree_latency(gpus, outer)
    times = tuple(
        Estimate(size, ring + ring_seconds(size, gpus, bus), tree + tree_seconds(size, bus) if nodes > 1 else None)
        for size in sizes
    )
    rails = len(node_type.fabric_ports())
    return AllReduce(
        type=node_type.name,
        nodes=nodes,
        gpus=gpus,
        rails=rails,
        bus=bus,
        limit=limit,
        ring_latency_s=ring,
        tree_latency_s=tree if nodes > 1 else None,
        times=times,
    )


def _bus(node_type: NodeType, nodes: int, rate: int | None) -> tuple[ByteRate, str] | None:
    """The narrowest part of a ring through all nodes; None where a part is not known."""
    gpus = node_type.gpus
    if gpus is None:
        return None
    ways: list[tuple[ByteRate, str]] = []
    if gpus.count > 1:
        if gpus.nvlink == "none" or not gpus.model.nvlink_gb_s:
            return None  # PCIe between GPUs depends on the board
        ways.append((ByteRate(int(gpus.model.nvlink_gb_s / 2 * 10**9)), "NVLink"))
    if nodes > domain_nodes(node_type):
        speeds = [min(filter(None, (rate, port.max_gbit)), default=0) for port in node_type.fabric_ports()]
        if not sum(speeds):
            return None
        ways.append((BitRate(int(domain_nodes(node_type) * sum(speeds) * 10**9)).to_bytes(), "fabric"))
    return min(ways) if ways else None


def checkpoint_seconds(size: Bytes, nodes: int, each: BitRate | None, storage: ByteRate) -> float:
    """A checkpoint that all nodes write at once: size over what storage takes, or what the nodes' ports carry."""
    widest = min(storage, ByteRate(nodes * each.to_bytes().value)) if each else storage
    return size.value / widest.value
