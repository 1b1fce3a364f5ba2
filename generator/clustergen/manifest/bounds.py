"""How many names the host lists of a manifest stand for: a line of a few bytes can stand for 65,536 of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from clustergen.diagnostics import Finding, ManifestPath
from clustergen.hostlist import MOST_NAMES, count, expand
from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes

_Size: TypeAlias = tuple[ManifestPath, str, int]
"""Path, text and number of names of a list."""


def too_many_names(manifest: Manifest) -> Finding | None:
    """The first host list with which all of them stand for more names than a cluster is resolved with.

    Nodes and their addresses are summed up apart from the lists that name them, as in Slurm's own files.
    """
    return _excess("nodes and addresses", _of_nodes(manifest)) or _excess("host lists", _of_lists(manifest))


def _excess(what: str, sizes: Iterable[_Size]) -> Finding | None:
    total = 0
    for path, text, size in sizes:
        total += size
        if total > MOST_NAMES:
            message = f"with '{text[:40]}', the manifest's {what} stand for more than {MOST_NAMES:,} names"
            return Finding("file-too-large", path, message, "write 'nodes: all' for partitions of all nodes")
    return None


def _of_nodes(manifest: Manifest) -> Iterator[_Size]:
    for index, entry in enumerate(manifest.nodes):
        yield ("nodes", index, "name"), entry.name, count(entry.name)
        yield from ((("nodes", index, *path), text, count(text)) for path, text in _addresses(entry))


def _of_lists(manifest: Manifest) -> Iterator[_Size]:
    """Path, text and number of names of each list; names of a node set count wherever a partition has it."""
    for path, text in _lists(manifest):
        yield path, text, count(text)
    if (slurm := manifest.slurm) is None:
        return
    for name, spec in slurm.partitions.items():
        if spec.nodes in ("all", "none"):
            continue
        path, size = ("slurm", "partitions", name, "nodes"), count(spec.nodes)
        yield path, spec.nodes, size
        if slurm.node_sets:  # read only as long as the sum is within the bound
            members = sum(count(slurm.node_sets[item]) for item in expand(spec.nodes) if item in slurm.node_sets)
            yield path, spec.nodes, members


def _lists(manifest: Manifest) -> Iterator[tuple[ManifestPath, str]]:
    fabric = manifest.networks.fabric
    for index, switch in enumerate(fabric.switches if fabric else ()):
        path: ManifestPath = ("networks", "fabric", "switches", index)
        yield (*path, "name"), switch.name
        if switch.nodes:
            yield (*path, "nodes"), switch.nodes
        for number, uplink in enumerate(switch.uplinks):
            yield (*path, "uplinks", number, "to"), uplink.to
    for network in ("management", "bmc", "fabric", "storage"):
        plan = getattr(getattr(manifest.networks, network), "plan", None)
        for key in ("nodes", "racks"):
            if plan and (folded := getattr(plan, key)):
                yield ("networks", network, "plan", key), folded
    for name, rack in manifest.racks.items():
        yield ("racks", name), name
        if rack.nodes:
            yield ("racks", name, "nodes"), rack.nodes
    if manifest.slurm is None:
        return
    for name, text in manifest.slurm.node_sets.items():
        yield ("slurm", "node_sets", name), text
    for name, text in manifest.slurm.topology.blocks.items():
        yield ("slurm", "topology", "blocks", name), text


def _addresses(entry: Nodes) -> Iterator[tuple[ManifestPath, str]]:
    other = entry.addresses
    if entry.address:
        yield ("address",), entry.address
    for name, text in (("bmc", other.bmc), ("storage", other.storage)):
        if text:
            yield ("addresses", name), text
    if isinstance(other.fabric, str):
        yield ("addresses", "fabric"), other.fabric
    for rail, text in enumerate(other.fabric if isinstance(other.fabric, tuple) else ()):
        yield ("addresses", "fabric", rail), text
