"""Nodes: host lists expanded, addresses given to hosts, roles filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from clustergen.cluster.catalogue_view import Report
from clustergen.cluster.model import NodeGroup, NodeType
from clustergen.cluster.roles import SERVICE, roles_of
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.hostlist import compress, expand
from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes


def resolve_nodes(manifest: Manifest, types: Mapping[str, NodeType], report: Report) -> tuple[NodeGroup, ...]:
    return tuple(_group(index, entry, types, report) for index, entry in enumerate(manifest.nodes))


def unknown_type(path: ManifestPath, name: str, types: Iterable[str]) -> Finding:
    guess = did_you_mean(name, types) or f"use {one_of(types)}, or define '{name}' under node_types"
    return Finding("node-type-unknown", path, f"node type '{name}' is not defined", guess)


def is_pending(group: NodeGroup) -> bool:
    """True if an error keeps the type of these nodes from being resolved, and with it ports and GPUs."""
    return not group.is_type_known or (not group.type.is_resolved and group.type.name != SERVICE)


def _group(index: int, entry: Nodes, types: Mapping[str, NodeType], report: Report) -> NodeGroup:
    path: ManifestPath = ("nodes", index)
    kind = types.get(entry.type)
    if kind is None:
        report(unknown_type((*path, "type"), entry.type, types))
        kind = types[SERVICE]
    hosts = tuple(expand(entry.name))
    if entry.address and (names := _range_of_names(entry.name, len(expand(entry.address)))):
        message = f"'{entry.name}' is one host name, with {len(expand(names))} addresses"
        report(Finding("address-count", (*path, "name"), message, f'write "{names}"'))
        hosts = tuple(expand(names))

    def addresses(text: str | None, where: ManifestPath) -> tuple[str, ...]:
        if text is None:
            return ()
        addresses_of_text = tuple(expand(text))
        if len(addresses_of_text) != len(hosts):
            meant = _of_length(text, len(hosts))
            report(
                Finding(
                    "address-count",
                    (*path, *where),
                    f"{_many(len(addresses_of_text), 'address', 'addresses')} for {_many(len(hosts), 'node', 'nodes')}",
                    _bracketed(text)
                    or (f'write "{meant}"' if meant else "list one address per name, in the same order"),
                )
            )
            return tuple(expand(meant)) if meant else ()
        return addresses_of_text

    other = entry.addresses
    fabric = other.fabric
    if fabric is None:
        rails: tuple[tuple[str, ...], ...] = ()
    elif isinstance(fabric, str):
        rails = (addresses(fabric, ("addresses", "fabric")),)
    else:
        rails = tuple(addresses(rail, ("addresses", "fabric", number)) for number, rail in enumerate(fabric))
    if not all(rails):
        rails = ()  # a rail whose addresses do not count would shift those behind it
    return NodeGroup(
        index=index,
        entry=entry.name,
        hosts=hosts,
        folded=compress(hosts),
        type=kind,
        is_type_known=entry.type in types,
        roles=roles_of(entry, has_gpus=kind.gpus is not None),
        addresses=addresses(entry.address, ("address",)),
        bmc=addresses(other.bmc, ("addresses", "bmc")),
        storage=addresses(other.storage, ("addresses", "storage")),
        fabric=rails,
        macs=entry.macs if len(entry.macs) == len(hosts) else (),
        features=entry.features,
        weight=entry.weight,
        state=entry.state,
        in_no_partition=entry.in_no_partition,
        slurm_options=dict(entry.slurm_options),
    )


def _many(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _of_length(text: str, count: int) -> str | None:
    """`10.0.0.[11-14]` for `10.0.0.[11-13]` and 4 nodes; None where it is not one range, or that would leave IPv4."""
    match = re.fullmatch(r"(\d+\.\d+\.\d+\.)\[(\d+)-\d+\]", text)
    last = int(match[2]) + count - 1 if match else 256
    return f"{match[1]}[{match[2]}-{last}]" if match and last < 255 and count > 1 else None


def _range_of_names(name: str, count: int) -> str | None:
    """`gpu[1-4]` for `gpu1-4` with 4 addresses, which is a range to people and one host name to Slurm's host lists."""
    match = re.fullmatch(r"([a-z][a-z0-9-]*?)([0-9]+)(?:-|\.\.|:)\1?([0-9]+)", name)
    is_range = match and int(match[3]) - int(match[2]) + 1 == count > 1
    return f"{match[1]}[{match[2]}-{match[3]}]" if match and is_range else None


def _bracketed(text: str) -> str | None:
    """The hint for `10.0.0.11-14`, which is a range to people and one name to Slurm's host lists."""
    match = re.fullmatch(r"(\d+\.\d+\.\d+\.)(\d+)-(?:\1)?(\d+)", text)
    return f'write "{match[1]}[{match[2]}-{match[3]}]"' if match else None
