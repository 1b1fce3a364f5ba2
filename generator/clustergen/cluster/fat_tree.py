"""How many switches a fat tree needs, and which of them are joined: the counting rule of NVIDIA's reference designs.

A scalable unit is as many nodes as a leaf has node ports; each rail of a unit has a leaf of its own. Where one unit has
all nodes, several rails share a leaf if that saves switches, down to one switch for everything. Every leaf has the same
bundle to every spine, so the number of spines divides the number of uplinks of a leaf. Where the leaves are more
than a spine has ports, leaves of one rail share a group of spines, and cores join the groups: spine 1 of all groups to
the cores of plane 1, and so on.

Source: reference architectures of DGX SuperPOD with H100, B200 and B300, tables of switch and cable counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from clustergen.records import record


class DoesNotFitError(Exception):
    """The switches cannot carry the nodes; the text says why, `most` how many nodes `part` of the tree can have."""

    def __init__(self, why: str, most: int, part: str = "such a tree") -> None:
        super().__init__(why)
        self.most, self.part = most, part


@record
class Shape:
    """A fat tree in numbers. Ports and cables are links of the network's rate, not cages or assemblies."""

    rails: int
    units: int
    unit_nodes: int
    down: int  # node ports of a leaf
    up: int  # uplinks of a leaf
    spines: int  # of a group
    groups: int = 1  # of spines: 1 with two tiers, else per rail
    spine_up: int = 0  # uplinks of a spine; 0 with two tiers
    cores: int = 0  # of a plane; 0 with two tiers
    shared: int = 1  # rails on a leaf; the last leaf can have fewer

    @property
    def columns(self) -> int:
        """Leaves of a unit."""
        return -(-self.rails // self.shared)

    @property
    def leaves(self) -> int:
        return self.columns * self.units

    @property
    def switches(self) -> int:
        return self.leaves + self.all_spines + self.all_cores

    @property
    def switch_cables(self) -> int:
        return self.leaves * self.up + self.all_spines * self.spine_up

    @property
    def all_spines(self) -> int:
        return self.spines * (self.groups * self.rails if self.cores else 1)

    @property
    def all_cores(self) -> int:
        return self.cores * self.spines

    @property
    def unit_groups(self) -> tuple[range, ...]:
        """Units by group of spines."""
        size = -(-self.units // self.groups)
        return tuple(range(start, min(start + size, self.units)) for start in range(0, self.units, size))


@record
class Member:
    """A switch of a tree: its tier (leaf, spine or core), and the bundles to the switches above."""

    name: str
    tier: str
    unit: int  # of a leaf, from 0
    rails: tuple[int, ...]  # that it serves; empty: all
    uplinks: Mapping[str, int]


@record
class Ports:
    """Ports of a leaf: for nodes and for uplinks. `nodes_each`: links to nodes on a node port, 2 with splitter cables.

    `single`: links to nodes of a switch without uplinks. `ratio`: bandwidth of its nodes to that of its uplinks, by
    which a leaf that is never full needs fewer of them; None where the uplinks are ports of their own.
    """

    down: int
    up: int
    single: int
    nodes_each: int = 1
    ratio: float | None = None

    @property
    def most(self) -> int:
        """Links to nodes of a leaf with uplinks."""
        return self.down * self.nodes_each

    def uplinks(self, links: int) -> int:
        """Uplinks that so many links to nodes need; `up` for as many as the leaf has ports for."""
        if self.ratio is None or links >= self.most:
            return self.up
        return min(self.up, math.ceil(links / self.nodes_each / self.ratio))

    @classmethod
    def by_ratio(cls, ports: int, ratio: float = 1, nodes_each: int = 1) -> Ports:
        """So many node ports that their bandwidth is `ratio` times that of the uplinks."""
        down = int(ports * ratio / (ratio + 1))
        return cls(down, ports - down, ports * nodes_each, nodes_each, ratio)


def shape(
    nodes: int,
    rails: int,
    leaf: Ports,
    spine: int,
    core: int,
    unit: int = 0,
    least_spines: int = 1,
    joined: bool = True,
    *,
    reserved: int = 0,
    least_leaves: int = 1,
) -> Shape:
    """The smallest tree for `nodes` with `rails` ports each, with so many ports on a spine and on a core.

    `joined`: whether nodes of one rail reach those of another; if not, one leaf for each rail needs no spine.
    `unit`: nodes of a scalable unit, 0 for as many as fit; with it each rail has a leaf of its own. `least_spines`: at
    least so many, of each group. `reserved`: ports that stay free on each leaf of the first unit. `least_leaves`: over
    which the ports of a node are spread, where it has as many. A leaf has the uplinks that its nodes need, or more
    where that saves spines. Raises DoesNotFitError.
    """
    if not unit and (small := list(_one_unit(nodes, rails, leaf, spine, least_spines, joined, reserved, least_leaves))):
        return min(small, key=lambda tree: (tree.switches, tree.switch_cables, tree.shared))
    if not leaf.down or not leaf.up:
        raise DoesNotFitError("a leaf needs ports for nodes and for uplinks", leaf.single // rails)
    if unit > leaf.most:
        raise DoesNotFitError(
            f"a unit has {unit} nodes, and a leaf ports for {leaf.most} beside its {leaf.up} uplinks",
            leaf.most,
            "a unit",
        )
    nodes += reserved
    unit = unit or leaf.most
    leaves = _Leaves(rails, -(-nodes // unit), unit, leaf.down)
    uplinks = range(leaf.uplinks(min(unit, nodes)), leaf.up + 1)
    if leaves.count <= spine:
        trees = [_two_tiers(leaves, up, spine, least_spines) for up in uplinks]
    else:
        trees = [_three_tiers(leaves, up, spine, core, least_spines) for up in uplinks]
    return min(trees, key=lambda tree: (tree.all_spines + tree.all_cores, tree.up))


def _one_unit(
    nodes: int, rails: int, leaf: Ports, spine: int, least_spines: int, joined: bool, reserved: int, least_leaves: int
) -> Iterator[Shape]:
    """The trees of one unit that has all nodes: with a leaf for each rail, for two rails, and so on."""
    for shared in range(1, rails + 1):
        columns = -(-rails // shared)
        links = nodes * shared + reserved
        if -(-rails // columns) != shared or columns < min(least_leaves, rails):
            continue
        if links <= leaf.single and (columns == 1 or not joined):
            yield Shape(
                rails=rails,
                units=1,
                unit_nodes=nodes,
                down=leaf.single,
                up=0,
                spines=0,
                shared=shared,
            )
        elif 0 < links <= leaf.most and 1 < columns <= spine and leaf.up:
            leaves = _Leaves(rails, 1, leaf.most // shared, leaf.down, shared)
            for up in range(leaf.uplinks(links), leaf.up + 1):
                yield _two_tiers(leaves, up, spine, least_spines)


@record
class _Leaves:
    """The lowest tier: units of so many nodes, each with a leaf for every rail, or for some that share it."""

    rails: int
    units: int
    unit: int
    down: int
    shared: int = 1

    @property
    def count(self) -> int:
        return -(-self.rails // self.shared) * self.units


def _two_tiers(leaves: _Leaves, up: int, spine: int, least_spines: int) -> Shape:
    least = max(-(-leaves.count * up // spine), min(least_spines, up))
    return Shape(
        rails=leaves.rails,
        units=leaves.units,
        unit_nodes=leaves.unit,
        down=leaves.down,
        up=up,
        spines=_divisor(up, least),
        shared=leaves.shared,
    )


def _three_tiers(leaves: _Leaves, up: int, spine: int, core: int, least_spines: int) -> Shape:
    half = spine // 2
    if not half:
        why = f"{leaves.count} leaves need a third tier, and a spine has {spine} ports"
        raise DoesNotFitError(why, spine // leaves.rails * leaves.unit)
    groups = -(-leaves.units // half)
    size = -(-leaves.units // groups)
    spines = _divisor(up, max(-(-size * up // half), min(least_spines, up)))
    spine_up = size * up // spines
    joined = groups * leaves.rails
    if joined > core:
        most = (core // leaves.rails) * half * leaves.unit
        raise DoesNotFitError(f"{joined} groups of spines need a port each on every core, which has {core}", most)
    cores = _divisor(spine_up, -(-joined * spine_up // core))
    return Shape(
        rails=leaves.rails,
        units=leaves.units,
        unit_nodes=leaves.unit,
        down=leaves.down,
        up=up,
        groups=groups,
        spines=spines,
        spine_up=spine_up,
        cores=cores,
    )


def _divisor(of: int, least: int) -> int:
    """The smallest divisor that is not less than `least`; `of` itself divides."""
    return next(number for number in range(max(1, least), of + 1) if of % number == 0)


def members(tree: Shape, prefix: str = "") -> Iterator[Member]:
    """Leaves unit by unit, then spines, then cores."""
    group_of = {unit: number for number, units in enumerate(tree.unit_groups) for unit in units}
    for unit in range(tree.units):
        for column in range(tree.columns):
            rails = tuple(range(column * tree.shared, min((column + 1) * tree.shared, tree.rails)))
            if tree.shared > 1:
                name = f"{prefix}leaf{column + 1:02}"
            else:
                name = f"{prefix}leaf{unit + 1:02}" + (f"-r{column}" if tree.rails > 1 else "")
            tops = _spines(tree, column, group_of[unit], prefix)
            uplinks = dict.fromkeys(tops, tree.up // tree.spines) if tree.spines else {}
            yield Member(name, "leaf", unit, rails if tree.columns > 1 else (), uplinks)
    if not tree.cores:
        for name in _spines(tree, 0, 0, prefix):
            yield Member(name, "spine", 0, (), {})
        return
    for rail in range(tree.rails):
        for group in range(tree.groups):
            for plane, name in enumerate(_spines(tree, rail, group, prefix)):
                uplinks = dict.fromkeys(_cores(tree, plane, prefix), tree.spine_up // tree.cores)
                yield Member(name, "spine", 0, (rail,), uplinks)
    for plane in range(tree.spines):
        for name in _cores(tree, plane, prefix):
            yield Member(name, "core", 0, (), {})


def _spines(tree: Shape, rail: int, group: int, prefix: str) -> list[str]:
    where = f"-r{rail}-g{group + 1}-" if tree.cores else ""
    return [f"{prefix}spine{where}{number + 1:02}" for number in range(tree.spines)]


def _cores(tree: Shape, plane: int, prefix: str) -> list[str]:
    return [f"{prefix}core{plane * tree.cores + number + 1:03}" for number in range(tree.cores)]
