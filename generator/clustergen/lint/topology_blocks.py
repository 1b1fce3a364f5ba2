"""Blocks of nodes, whichever file says them: who is in them, and the sizes that jobs get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clustergen.hostlist import compress
from clustergen.lint.finding import LintFinding
from clustergen.lint.hostlists import members
from clustergen.lint.site import Site, Spot, expanded
from clustergen.slurmconf.config import Setting
from clustergen.slurmrules.conf import integer

_UNKNOWN, _TWICE = "block-node-unknown", ("block-node-twice", "is already in block '{}'")
_MOST_DOUBLINGS = 15
_MOST_NODES = 65_536


class Block(NamedTuple):
    """One block; `nodes` is a host list."""

    name: Setting
    nodes: Setting | None


class Size(NamedTuple):
    """One of the sizes; the first is the base."""

    text: str
    spot: Spot


def blocks(site: Site, listed: list[Block], sizes: list[Size]) -> Iterator[LintFinding]:
    """Everything about the blocks of one topology."""
    seen: dict[str, Block] = {}
    owner: dict[str, str] = {}
    for block in listed:
        first = seen.setdefault(block.name.text, block)
        if first is not block:
            message = (
                f"block '{block.name.text}' is already defined on line {first.name.key_at.line}; slurmctld does"
                " not start"
            )
            yield site.error("block-node-twice", block.name, message)
        elif block.nodes is not None:
            yield from members(site, block.nodes, block.name.text, owner, _UNKNOWN, _TWICE)
            yield from _too_small(site, block.nodes, sizes, listed[0].nodes)
        elif not site.has("block-gaps"):
            message = f"block '{block.name.text}' has no nodes; slurmctld does not start"
            yield site.error("block-too-small", block.name, message, "add Nodes=…, or remove the line")
    yield from _sizes(site, sizes)
    readable = all(block.nodes is None or expanded(block.nodes.text) is not None for block in listed)
    outside = [host for host in site.hosts if host not in owner]
    if outside and listed and readable and site.complete:
        shown = compress(outside[:2000], suffixes=True)
        message = (
            f"{shown} {'is' if len(outside) == 1 else 'are'} in no block, and Slurm starts jobs only on nodes in blocks"
        )
        yield site.warning("node-without-block", site.hosts[outside[0]], message, "add every node to a block")


def _too_small(site: Site, nodes: Setting, sizes: list[Size], first: Setting | None) -> Iterator[LintFinding]:
    """Without sizes, the first block has the base size."""
    base = integer(sizes[0].text) if sizes else len(expanded(first.text) or ()) if first else None
    hosts = expanded(nodes.text)
    if base and hosts is not None and len(hosts) < base and not site.has("block-gaps"):
        message = f"{len(hosts)} nodes, fewer than the base size {base}; slurmctld does not start"
        yield site.error("block-too-small", nodes, message)


def _sizes(site: Site, sizes: list[Size]) -> Iterator[LintFinding]:
    base = integer(sizes[0].text) if sizes else None
    for size in sizes:
        number = integer(size.text)
        if not number or number > _MOST_NODES:
            yield site.error(
                "block-size", size.spot, f"'{size.text}' is not a number of nodes; slurmctld does not start"
            )
        elif base and not _doubled(number, base):
            message = f"block size {number} is not {base} times a power of two; slurmctld does not start"
            yield site.error("block-size", size.spot, message)


def _doubled(number: int, base: int) -> bool:
    factor, rest = divmod(number, base)
    return rest == 0 and factor in (1 << power for power in range(_MOST_DOUBLINGS + 1))
