"""Machines that are alike, which become one node type."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from clustergen.catalogue.systems import System
from clustergen.hardware.discovery.facts import NodeFacts
from clustergen.hardware.discovery.recognise import system_of, with_other_gpus
from clustergen.hostlist import natural_key
from clustergen.records import record

MEMORY_GAP = 1.03
"""Ratio of two memory sizes above which the machines differ."""


@record
class Group:
    """Machines with the same hardware but for memory, of which the smallest counts."""

    system: System | None
    nodes: tuple[NodeFacts, ...]

    @property
    def first(self) -> NodeFacts:
        return self.nodes[0]

    @property
    def real_memory_mib(self) -> int | None:
        return min((node.real_memory_mib for node in self.nodes if node.real_memory_mib), default=None)

    @property
    def most_memory_mib(self) -> int | None:
        return max((node.real_memory_mib for node in self.nodes if node.real_memory_mib), default=None)


def groups(nodes: Iterable[NodeFacts]) -> tuple[Group, ...]:
    """In order of their first machines; names are sorted as people do."""
    alike: dict[tuple[object, ...], list[NodeFacts]] = {}
    for node in sorted(map(with_other_gpus, nodes), key=lambda node: natural_key(node.name)):
        alike.setdefault(_hardware(node), []).append(node)
    parts = [part for members in alike.values() for part in _by_memory(members)]
    parts.sort(key=lambda part: natural_key(part[0].name))
    return tuple(Group(system_of(part[0]), part) for part in parts)


def _by_memory(members: list[NodeFacts]) -> Iterator[tuple[NodeFacts, ...]]:
    """Firmware and kernels take a little more or less from equal modules; one module fewer is a larger gap."""
    bounds = sorted({node.real_memory_mib or 0 for node in members})
    starts = [high for low, high in pairwise(bounds) if high > low * MEMORY_GAP]
    parts: dict[int, list[NodeFacts]] = {}
    for node in members:
        parts.setdefault(bisect_right(starts, node.real_memory_mib or 0), []).append(node)
    yield from (tuple(part) for part in parts.values())


def _hardware(node: NodeFacts) -> tuple[object, ...]:
    ports = tuple((port.device, port.gbit, port.link, port.type) for port in node.ports)
    gpus = tuple((gpu.name or gpu.links, gpu.numa, gpu.nearest) for gpu in node.gpus)
    disks = tuple((disk.device, disk.size) for disk in node.disks)
    return node.product, node.cpus, gpus, ports, disks
