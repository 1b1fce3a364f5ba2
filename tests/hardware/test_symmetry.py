"""A fabric without a plan against itself: the most frequent value is assumed to be intended."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from clustergen.hardware import ibnetdiscover
from clustergen.hardware.findings import Group, Report
from clustergen.hardware.symmetry import Symmetry
from strategies.fabric_faults import UNNAMED
from strategies.fabric_nets import Net
from strategies.findings import report_words
from strategies.reviewed import same

RAILS = 4


@cache
def pods(cores: int = 0) -> Net:
    """Three pods of six nodes, four rails, two uplinks a spine; with cores, a spine layer for each pair of rails."""
    net = Net()
    spines = [f"spine{number}" for number in range(4)]
    net.switches = {f"leaf{pod}{rail}": 40 for pod in range(3) for rail in range(RAILS)} | dict.fromkeys(spines, 40)
    taken = dict.fromkeys(net.switches, 0)

    def join(low: str, high: str) -> None:
        taken[low] += 1
        taken[high] += 1
        net.join((low, 20 + taken[low]), (high, taken[high]))

    for pod in range(3):
        for rail in range(RAILS):
            for node in range(6):
                net.join((f"gpu{pod}{node} HCA-{rail + 1}", 1), (f"leaf{pod}{rail}", node + 1))
            for spine in spines[rail // 2 * 2 : rail // 2 * 2 + 2] if cores else spines:
                join(f"leaf{pod}{rail}", spine)
                join(f"leaf{pod}{rail}", spine)
    for core in range(cores):
        net.switches[f"core{core}"] = taken[f"core{core}"] = 0
        for spine in spines:
            join(spine, f"core{core}")
        net.switches[f"core{core}"] = 40
    return net


def groups(net: Net) -> list[Group]:
    facts, diagnostics = ibnetdiscover.read(net.discovered().encode(), "fabric.txt")
    assert facts is not None
    assert not diagnostics
    return list(Symmetry(facts).groups())


@pytest.mark.parametrize("cores", [0, 2])
def test_an_even_fabric_has_no_findings(cores: int) -> None:
    assert groups(pods(cores)) == []


def test_one_switch_has_no_rails() -> None:
    net = Net({"switch": 40})
    for node in range(4):
        for rail in range(RAILS):
            net.join((f"gpu{node} mlx5_{rail}", 1), ("switch", node * RAILS + rail + 1))
    assert groups(net) == []


def _uplinks(net: Net) -> None:
    for end in (("leaf00", 21), ("leaf00", 22), ("leaf21", 23)):
        net.cut(end)


FAULTS: dict[str, tuple[Callable[[Net], object], str, str]] = {
    "swap": (lambda net: net.exchange(("gpu01 HCA-2", 1), ("gpu01 HCA-4", 1)), "rail-swapped", "HCA-2 is on leaf03"),
    "uplinks": (_uplinks, "bundle-uneven", "3 of 96 uplinks are missing on 2 of 12 leaves"),
    "leaf": (lambda net: net.remove("leaf12"), "cable-missing", "gpu[10-15]: no link of mlx5_2"),
    "cable": (lambda net: net.cut(("gpu23 HCA-1", 1)), "cable-missing", "gpu23: no link of mlx5_0"),
    "rate": (lambda net: net.rates.update({("leaf00", 3): "1xNDR"}), "cable-slow", "leaf00 port 3"),
    "name": (lambda net: net.rename({"gpu05 HCA-1": UNNAMED}), "adapter-unnamed", "leaf00 port 6"),
}  # fmt: skip


def of_fault(name: str) -> Report:
    net = pods().copy()
    FAULTS[name][0](net)
    return Report("fabric.txt", (), tuple(groups(net)), ())


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_nothing_else(name: str) -> None:
    _, code, words = FAULTS[name]
    report = of_fault(name)
    (group,) = report.groups
    assert group.code == code
    assert words in group.headline + "".join(item.message for item in group.items)
    same("cabling", report_words(report))


def two_of_each() -> Report:
    net = pods(2).copy()
    _uplinks(net)
    for node in ("gpu01", "gpu11"):
        net.exchange((f"{node} HCA-2", 1), (f"{node} HCA-4", 1))
        net.cut((f"{node[:4]}4 HCA-1", 1))
        net.rates[f"{node[:4]}3 HCA-1", 1] = "1xNDR"
        net.rename({f"{node[:4]}5 HCA-1": f"{UNNAMED} {node}"})
    net.cut(("core1", 3))
    return Report("fabric.txt", (), tuple(groups(net)), ())


def test_two_of_each_are_counted() -> None:
    same("cabling", report_words(two_of_each()))


def test_uplinks_of_spines() -> None:
    net = pods(2).copy()
    net.cut(("core1", 3))
    (group,) = groups(net)
    assert group.code == "bundle-uneven"
    assert "spine2" in group.items[0].message


def test_a_management_host_on_two_leaves_is_no_swap() -> None:
    """Its first two adapters are on the leaves of the third and the fourth rail."""
    net = pods().copy()
    net.join(("ufm mlx5_0", 1), ("leaf02", 15))
    net.join(("ufm mlx5_1", 1), ("leaf03", 15))
    assert groups(net) == []


def test_both_spellings_are_one_rail() -> None:
    net = pods().copy()
    net.rename({f"gpu0{node} HCA-{rail + 1}": f"gpu0{node} mlx5_{rail}" for node in range(6) for rail in range(RAILS)})
    assert groups(net) == []
