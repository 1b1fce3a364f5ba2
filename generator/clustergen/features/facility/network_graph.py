"""A network folded until it can be drawn: the first units with each leaf, and the rest as one box with its count.

A unit is a set of leaves that share compute nodes, such as the leaves of all rails of a scalable unit. Switches above
that have equal bundles to all boxes below are alike, and become one box where they are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from clustergen.cluster.model import Cluster, Switch
from clustergen.facility.cabling import cables
from clustergen.records import record
from clustergen.render.views.diagram import levels

MOST_LEAVES = 8
"""Leaves that units share in one picture; the first unit is drawn even if it has more."""
MOST_IN_UNIT = 12
MOST_ABOVE = 16
"""Boxes of a tier above the leaves."""
REST, REST_LEAVES = "rest", "rest of leaves"


@record
class Box:
    """Switches that are drawn as one. `is_rest`: they belong to units that are not drawn."""

    id: str
    switches: tuple[Switch, ...]
    is_rest: bool = False


@record
class Unit:
    """Leaves and the nodes on them."""

    id: str
    leaves: tuple[Box, ...]
    nodes: tuple[str, ...]
    partial: Mapping[str, tuple[str, ...]]
    """Node → its leaves, where these are not all of the unit."""


@record
class NetworkGraph:
    """Boxes by tier, and cables between two boxes by their ids; nodes of the rest have the id `rest`."""

    technology: str  # of the cables: infiniband or ethernet
    units: tuple[Unit, ...]
    more_units: int
    rest_leaves: Box | None
    rest_nodes: int
    tiers: tuple[tuple[Box, ...], ...]  # above the leaves, lowest first
    cables: Mapping[tuple[str, str], int]
    of_nodes: int  # cables
    of_switches: int
    unconnected: tuple[str, ...]


def network_graph(cluster: Cluster, network: str, switches: tuple[Switch, ...]) -> NetworkGraph:
    drawn_cables = [cable for cable in cables(cluster) if cable.network == network]
    technology = drawn_cables[0].technology if drawn_cables else ""
    pairs = Counter((cable.a.device, cable.b.device) for cable in drawn_cables)
    names = {switch.name for switch in switches}
    below: dict[str, list[tuple[str, int]]] = {}
    for (a, b), count in pairs.items():
        below.setdefault(b, []).append((a, count))
    joined = {name for pair in pairs for name in pair}
    level = {switch.name: step for switch, step in levels(switches)}
    leaves = [switch for switch in switches if level[switch.name] == 0 and switch.name in joined]
    units = _units(leaves, frozenset(cluster.hosts("slurm-compute")))
    shown = _shown(units)
    drawn = tuple(_drawn(units[:shown]))
    box_of = {host: unit.id for unit in drawn for host in unit.nodes}
    box_of |= {switch.name: box.id for unit in drawn for box in unit.leaves for switch in box.switches}
    others = tuple(switch for unit in units[shown:] for switch in unit)
    rest_hosts = dict.fromkeys(host for switch in others for host in switch.nodes if host not in box_of)
    rest = Box(REST_LEAVES, others, is_rest=True) if others else None
    box_of |= {switch.name: REST_LEAVES for switch in others} | dict.fromkeys(rest_hosts, REST)
    tiers = []
    for tier in range(1, max(level.values(), default=0) + 1):
        members = [switch for switch in switches if level[switch.name] == tier and switch.name in joined]
        boxes = tuple(_boxes(tier, members, below, box_of))
        box_of |= {switch.name: box.id for box in boxes for switch in box.switches}
        tiers.append(boxes)
    bundles: Counter[tuple[str, str]] = Counter()
    for (a, b), count in pairs.items():
        if a in box_of:
            bundles[box_of[a], box_of[b]] += count
    of_switches = sum(count for (a, _), count in pairs.items() if a in names)
    return NetworkGraph(
        technology=technology,
        units=drawn,
        more_units=len(units) - shown,
        rest_leaves=rest,
        rest_nodes=len(rest_hosts),
        tiers=tuple(tiers),
        cables=bundles,
        of_nodes=pairs.total() - of_switches,
        of_switches=of_switches,
        unconnected=tuple(switch.name for switch in switches if switch.name not in joined),
    )


def _units(leaves: Sequence[Switch], compute: frozenset[str]) -> list[list[Switch]]:
    """Leaves that share compute nodes, or any node where they have none that computes."""
    unit_of: dict[str, list[Switch]] = {}
    units: list[list[Switch]] = []
    for leaf in leaves:
        hosts = [host for host in leaf.nodes if host in compute] or list(leaf.nodes)
        unit = next((unit_of[host] for host in hosts if host in unit_of), None)
        if unit is None:
            units.append(unit := [])
        unit.append(leaf)
        for host in hosts:
            unit_of.setdefault(host, unit)
    return units


def _shown(units: Sequence[Sequence[Switch]]) -> int:
    total = 0
    for number, unit in enumerate(units):
        total += len(unit)
        if total > MOST_LEAVES and number:
            return number
    return len(units)


def _drawn(units: Sequence[Sequence[Switch]]) -> Iterator[Unit]:
    """A node on leaves of several units belongs to the first."""
    placed: set[str] = set()
    for number, leaves in enumerate(units):
        single = len(leaves) if len(leaves) <= MOST_IN_UNIT else MOST_IN_UNIT - 1
        boxes = [Box(leaf.name, (leaf,)) for leaf in leaves[:single]]
        if leaves[single:]:
            boxes.append(Box(leaves[single].name, tuple(leaves[single:])))
        nodes = tuple(dict.fromkeys(host for leaf in leaves for host in leaf.nodes if host not in placed))
        placed.update(nodes)
        on = {host: tuple(leaf.name for leaf in leaves if host in leaf.nodes) for host in nodes}
        partial = {host: names for host, names in on.items() if len(names) < len(leaves)}
        yield Unit(f"nodes {number}", tuple(boxes), nodes, partial)


def _boxes(
    tier: int, switches: Sequence[Switch], below: Mapping[str, list[tuple[str, int]]], box_of: Mapping[str, str]
) -> Iterator[Box]:
    alike: dict[tuple[tuple[str, int], ...], list[Switch]] = {}
    rest: list[Switch] = []
    for switch in switches:
        bundles: Counter[str] = Counter()
        for name, count in below.get(switch.name, ()):
            if name in box_of:
                bundles[box_of[name]] += count
        if all(box.startswith(REST) for box in bundles):
            rest.append(switch)
        else:
            alike.setdefault(tuple(sorted(bundles.items())), []).append(switch)
    together = list(alike.values())
    if sum(map(len, together)) <= MOST_ABOVE:
        together = [[switch] for group in together for switch in group]
    elif len(together) > MOST_ABOVE:
        together = [[switch for group in together for switch in group]]
    for group in together:
        yield Box(group[0].name, tuple(group))
    if rest:
        yield Box(f"rest of tier {tier}", tuple(rest), is_rest=True)
