"""The counting rule against the tables of NVIDIA's reference architectures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from clustergen.cluster.fat_tree import DoesNotFitError, Ports, Shape, members, shape

# Nodes with 8 rails, ports of a switch → leaves, spines, cores; cables leaf to spine, spine to core.
H100 = "docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100, network-fabrics, table 4"
B200 = "docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-b200, architecture"
B300_XDR = "docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr, table 3"
TABLES = [
    *((H100, 31, 64, (8, 4, 0), (256, 0)), (H100, 63, 64, (16, 8, 0), (512, 0))),
    *((H100, 95, 64, (24, 16, 0), (768, 0)), (H100, 127, 64, (32, 16, 0), (1024, 0))),
    *((B200, 64, 64, (16, 8, 0), (512, 0)), (B200, 128, 64, (32, 16, 0), (1024, 0))),
    *((B200, 256, 64, (64, 32, 0), (2048, 0)), (B200, 512, 64, (128, 128, 64), (4096, 4096))),
    *((B200, 1024, 64, (256, 256, 128), (8192, 8192)), (B200, 2048, 64, (512, 512, 256), (16384, 16384))),
    *((B300_XDR, 72, 144, (8, 4, 0), (576, 0)), (B300_XDR, 144, 144, (16, 8, 0), (1152, 0))),
    *((B300_XDR, 288, 144, (32, 18, 0), (2304, 0)), (B300_XDR, 576, 144, (64, 36, 0), (4608, 0))),
    (B300_XDR, 1296, 144, (144, 72, 0), (10368, 0)),
]
# B300 with Ethernet: two ports a rail, each to a plane of its own, 128 ports of 400 Gb/s a switch, 64 nodes a unit.
B300 = "docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300, table 3"
PLANES = [
    *((B300, 64, (16, 8), 512), (B300, 128, (32, 16), 1024), (B300, 256, (64, 32), 2048)),
    *((B300, 512, (128, 64), 4096), (B300, 1024, (256, 128), 8192)),
]


def counted(tree: Shape) -> tuple[int, int, int]:
    tiers = Counter(member.tier for member in members(tree))
    return tiers["leaf"], tiers["spine"], tiers["core"]


def cables(tree: Shape) -> tuple[int, int]:
    up = Counter[str]()
    for member in members(tree):
        up[member.tier] += sum(member.uplinks.values())
    return up["leaf"], up["spine"]


@pytest.mark.parametrize(("source", "nodes", "ports", "switches", "links"), TABLES)
def test_a_table_of_nvidia(source, nodes, ports, switches, links):
    tree = shape(nodes, 8, Ports.by_ratio(ports), ports, ports)
    assert counted(tree) == switches == (tree.leaves, tree.all_spines, tree.all_cores), source
    assert cables(tree) == links, source


@pytest.mark.parametrize(("source", "nodes", "switches", "links_of_800"), PLANES)
def test_a_table_of_two_planes(source, nodes, switches, links_of_800):
    leaves, spines, cores = counted(shape(nodes, 8, Ports.by_ratio(128), 128, 128, unit=64))
    assert (2 * leaves, 2 * spines, cores) == (*switches, 0), source
    assert cables(shape(nodes, 8, Ports.by_ratio(128), 128, 128, unit=64))[0] == links_of_800, source


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 31, 33, 64, 65, 100, 257, 300, 511, 777, 1500, 2048])
@pytest.mark.parametrize(("rails", "ports", "ratio"), [(8, 64, 1), (4, 40, 1), (1, 40, 3), (8, 64, 2), (2, 36, 1)])
def test_every_switch_has_its_ports_and_every_leaf_reaches_all(nodes, rails, ports, ratio):
    tree = shape(nodes, rails, Ports.by_ratio(ports, ratio), ports, ports)
    everything = {member.name: member for member in members(tree)}
    used = Counter({name: sum(member.uplinks.values()) for name, member in everything.items()})
    for member in everything.values():
        used[member.name] += tree.unit_nodes if member.tier == "leaf" else 0
        for top, links in member.uplinks.items():
            used[top] += links
        assert len(set(member.uplinks.values())) <= 1, "bundles are equal"
    assert max(used.values()) <= ports
    assert tree.units * tree.unit_nodes >= nodes

    def above(name: str) -> set[str]:
        tops = set(everything[name].uplinks)
        return tops.union(*(above(top) for top in tops))

    leaves = [name for name, member in everything.items() if member.tier == "leaf"]
    joined = above(leaves[0]) if len(leaves) > 1 else {""}
    assert all(joined & (above(name) or {""}) for name in leaves), "no leaf is an island"


@pytest.mark.parametrize(
    ("nodes", "ports", "unit", "words"),
    [
        (10, 2, 4, "a unit has 4 nodes"),
        (10, 1, 0, "needs ports for nodes"),
        (10**6, 64, 0, "groups of spines need a port"),
        (2048, 36, 0, "groups of spines need a port"),
    ],
)
def test_a_plan_that_cannot_be_built_names_one_that_can(nodes, ports, unit, words):
    with pytest.raises(DoesNotFitError, match=words) as caught:
        shape(nodes, 8, Ports.by_ratio(ports), ports, ports, unit=unit)
    if not unit and ports > 1:
        assert shape(caught.value.most, 8, Ports.by_ratio(ports), ports, ports).units
        with pytest.raises(DoesNotFitError):
            shape(caught.value.most + 1, 8, Ports.by_ratio(ports), ports, ports)


QM9700, Q3400 = Ports.by_ratio(64), Ports.by_ratio(144)
# Nodes → leaves, spines, cores and cables between switches, of three systems: from the tables above where these have
# the size (31, 64, 127, 256 and 512), and from `trees` below.
SIZES = {
    ("dgx-h100", 8, QM9700): {
        2: (1, 0, 0, 0),
        4: (1, 0, 0, 0),
        8: (1, 0, 0, 0),
        16: (4, 2, 0, 128),
        31: (8, 4, 0, 256),
        32: (8, 4, 0, 256),
        64: (16, 8, 0, 512),
        127: (32, 16, 0, 1024),
        256: (64, 32, 0, 2048),
        512: (128, 128, 64, 8192),
    },
    ("dgx-b300", 8, Q3400): {
        2: (1, 0, 0, 0),
        4: (1, 0, 0, 0),
        8: (1, 0, 0, 0),
        16: (1, 0, 0, 0),
        31: (4, 2, 0, 248),
        32: (4, 2, 0, 256),
        64: (8, 4, 0, 512),
        127: (16, 8, 0, 1152),
        256: (32, 18, 0, 2304),
        512: (64, 36, 0, 4608),
    },
    ("gb200-nvl72-tray", 4, QM9700): {
        2: (1, 0, 0, 0),
        4: (1, 0, 0, 0),
        8: (1, 0, 0, 0),
        16: (1, 0, 0, 0),
        31: (4, 2, 0, 128),
        32: (4, 2, 0, 128),
        64: (8, 4, 0, 256),
        127: (16, 8, 0, 512),
        256: (32, 16, 0, 1024),
        512: (64, 32, 0, 2048),
    },
}


def trees(nodes: int, rails: int, ports: int, ratio: float, least_leaves: int) -> Iterator[tuple[int, int]]:
    """Switches, and cables between them, of every tree of one or two tiers with equal bundles that serves the nodes.

    Several units have a leaf for each rail and are full, but for the last; a full leaf has no port to spare.
    """
    unit = int(ports * ratio / (ratio + 1))
    if nodes * rails <= ports and least_leaves == 1:
        yield 1, 0
    units = -(-nodes // unit)
    for leaves in range(least_leaves, rails + 1) if units == 1 else (rails * units,):
        down = nodes * -(-rails // leaves) if units == 1 else unit
        for up in range(ports - down if down == unit else 1, ports - down + 1):
            for spines in (number for number in range(1, up + 1) if up % number == 0):
                if leaves > 1 and down / up <= ratio and leaves * up // spines <= ports:
                    yield leaves + spines, leaves * up


def assert_ports_suffice(tree: Shape, nodes: int, leaf: Ports, ports: int) -> None:
    """Every switch has the ports that it needs, and every leaf the uplinks that its nodes do."""
    everything = {member.name: member for member in members(tree)}
    used = Counter({name: sum(member.uplinks.values()) for name, member in everything.items()})
    up = dict(used)
    for number, member in enumerate(one for one in everything.values() if one.tier == "leaf"):
        unit = min(nodes, tree.unit_nodes) if tree.units > 1 else nodes
        mine = min(unit, nodes - number // tree.columns * tree.unit_nodes) * (len(member.rails) or tree.rails)
        used[member.name] += -(-mine // leaf.nodes_each)
        if len(everything) > 1:
            assert mine / leaf.nodes_each <= up[member.name] * (leaf.ratio or 1)
    for member in everything.values():
        used.update(member.uplinks)
    assert max(used.values()) <= ports
    served = Counter(rail for member in everything.values() if member.tier == "leaf" for rail in member.rails)
    assert all(served[rail] == tree.units for rail in range(tree.rails)) or tree.columns == 1


@pytest.mark.parametrize(("system", "nodes"), [(system, nodes) for system, sizes in SIZES.items() for nodes in sizes])
def test_sizes_of_a_system(system: tuple[str, int, Ports], nodes: int) -> None:
    _, rails, leaf = system
    tree = shape(nodes, rails, leaf, leaf.single, leaf.single)
    assert (*counted(tree), sum(cables(tree))) == SIZES[system][nodes]
    assert_ports_suffice(tree, nodes, leaf, leaf.single)


@pytest.mark.parametrize("least_leaves", [1, 2])
@pytest.mark.parametrize("ratio", [1, 2, 3])
@pytest.mark.parametrize(("rails", "ports"), [(8, 64), (8, 144), (4, 64), (2, 40), (1, 64), (9, 64)])
def test_no_tree_of_fewer_switches_or_cables_serves_the_nodes(
    rails: int, ports: int, ratio: float, least_leaves: int
) -> None:
    leaf = Ports.by_ratio(ports, ratio)
    for nodes in (1, 2, 4, 7, 8, 9, 12, 16, 20, 31, 32, 33, 64, 127):
        tree = shape(nodes, rails, leaf, ports, ports, least_leaves=least_leaves)
        assert not tree.cores
        assert (tree.switches, tree.switch_cables) == min(trees(nodes, rails, ports, ratio, min(least_leaves, rails)))
        assert_ports_suffice(tree, nodes, leaf, ports)


@pytest.mark.parametrize(
    ("nodes", "ratio", "reserved", "up", "spines", "leaves"),
    [
        (8, 1, 0, 0, 0, 1),  # 8 nodes x 8 rails are the 64 ports of one switch
        (8, 1, 1, 26, 2, 3),  # and one more port needs a second leaf: 8 x 3 + 1 node ports
        (9, 1, 0, 28, 2, 3),  # 27 uplinks have no equal bundle to two spines
        (17, 1, 0, 18, 3, 8),
        (31, 1, 1, 32, 4, 8),
        (48, 3, 0, 16, 2, 8),
    ],
)
def test_rails_share_leaves_where_that_saves_switches(
    nodes: int, ratio: float, reserved: int, up: int, spines: int, leaves: int
) -> None:
    tree = shape(nodes, 8, Ports.by_ratio(64, ratio), 64, 64, reserved=reserved)
    assert (tree.up, tree.all_spines, tree.leaves, tree.units) == (up, spines, leaves, 1)


def test_a_stated_unit_has_a_leaf_for_each_rail() -> None:
    tree = shape(2, 8, QM9700, 64, 64, unit=32)
    assert counted(tree) == (8, 1, 0)
    assert {member.rails for member in members(tree) if member.tier == "leaf"} == {(rail,) for rail in range(8)}


def test_rails_that_are_not_joined_need_no_spine() -> None:
    tree = shape(16, 8, QM9700, 64, 64, joined=False)
    assert counted(tree) == (2, 0, 0)
    assert [member.rails for member in members(tree)] == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_uplink_ports_of_their_own_are_all_used() -> None:
    assert shape(50, 1, Ports(48, 4, 48), 64, 64).up == 4
    assert shape(30, 1, Ports(48, 4, 48), 64, 64, unit=20).up == 4


def test_the_least_number_of_spines_holds_for_each_group_of_three_tiers() -> None:
    usual = shape(512, 8, Ports.by_ratio(64), 64, 64)
    more = shape(512, 8, Ports.by_ratio(64), 64, 64, least_spines=usual.spines + 1)
    assert usual.cores
    assert more.cores
    assert more.spines == 2 * usual.spines, "the next divisor of 32"
    assert more.all_spines == 2 * usual.all_spines
    assert max(sum(member.uplinks.values()) for member in members(more)) <= 64
