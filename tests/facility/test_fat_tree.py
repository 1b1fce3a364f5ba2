"""The counting rule against the tables of NVIDIA's reference architectures."""

from __future__ import annotations

from collections import Counter

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
def test_what_cannot_be_built_says_what_can(nodes, ports, unit, words):
    with pytest.raises(DoesNotFitError, match=words) as caught:
        shape(nodes, 8, Ports.by_ratio(ports), ports, ports, unit=unit)
    if not unit and ports > 1:
        assert shape(caught.value.most, 8, Ports.by_ratio(ports), ports, ports).units
        with pytest.raises(DoesNotFitError):
            shape(caught.value.most + 1, 8, Ports.by_ratio(ports), ports, ports)


@pytest.mark.parametrize(
    ("nodes", "ratio", "up", "spines"),
    [
        (8, 1, 8, 1),  # 8 leaves x 8 uplinks are the 64 ports of one spine
        (9, 1, 10, 2),  # 9 uplinks have no equal bundle to two spines
        (16, 1, 16, 2),
        (31, 1, 32, 4),
        (32, 1, 32, 4),
        (8, 3, 3, 1),
        (48, 3, 16, 2),
    ],
)
def test_a_unit_that_is_not_full_has_the_uplinks_that_its_nodes_need(
    nodes: int, ratio: float, up: int, spines: int
) -> None:
    tree = shape(nodes, 8, Ports.by_ratio(64, ratio), 64, 64)
    assert (tree.up, tree.all_spines, tree.units) == (up, spines, 1)


@pytest.mark.parametrize("nodes", range(1, 33))
def test_a_leaf_passes_on_what_its_nodes_send(nodes: int) -> None:
    tree = shape(nodes, 8, Ports.by_ratio(64), 64, 64)
    assert nodes <= tree.up <= 32


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
