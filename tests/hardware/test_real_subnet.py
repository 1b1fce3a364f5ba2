"""Planned fabrics in ibsim: a real opensm takes them for fat trees, and what a real ibnetdiscover prints is as planned.

ibsim knows no rate above QDR and runs every link at 4xSDR, so that rates are compared in test_plan_check.py.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from clustergen.catalogue.hardware import switch as switch_model
from clustergen.cluster.model import Cluster
from clustergen.facility.placement import switches_of
from clustergen.hardware import ibnetdiscover
from clustergen.hardware.check import check_infiniband
from clustergen.hardware.model import Facts
from strategies.fabric_faults import FAULTS
from strategies.fabric_nets import Net, cluster_of, planned_net, superpod
from strategies.pages import ROOT
from strategies.subnet import Subnet, bring_up

pytestmark = pytest.mark.real

EXAMPLES = sorted((ROOT / "inventories").glob("*/manifest.yaml"))


def codes(cluster: Cluster, subnet: Subnet, network: str = "fabric") -> list[str]:
    """Codes of a check of the subnet, but for the rates, which are ibsim's."""
    report = check_infiniband(cluster, subnet.discovered.encode(), "fabric.txt", network)
    assert not report.reading, report.reading
    slow = [group for group in report.groups if group.code == "cable-slow"]
    assert all("4xSDR" in item.message for group in slow for item in group.items)
    return [group.code for group in report.groups if group.code != "cable-slow"]


NETWORKS = [
    *(("a6000-quad", "fabric"), ("dgx-a100-mig", "fabric"), ("midrange-weka", "fabric"), ("ml-training", "fabric")),
    *(("superpod-h100", "fabric"), ("superpod-h100", "storage")),
]
"""Example and network, of InfiniBand networks that have switches: to find them, all examples have to be resolved."""


def test_all_examples_with_an_infiniband_plan_are_listed() -> None:
    networks = []
    for path in EXAMPLES:
        for name, switches in switches_of(cluster_of(path)).items():
            models = [switch_model(switch.model) for switch in switches if switch.model]
            if all(model and model.fabric == "infiniband" for model in models):
                networks.append((path.parent.name, name))
    assert networks == NETWORKS


@pytest.mark.parametrize(("example", "network"), NETWORKS)
def test_the_fabric_of_an_example_comes_up_and_is_as_planned(example: str, network: str) -> None:
    cluster = cluster_of(ROOT / "inventories" / example / "manifest.yaml")
    subnet = bring_up(planned_net(cluster, network))
    assert subnet.is_fat_tree == any(switch.uplinks for switch in switches_of(cluster)[network])
    assert codes(cluster, subnet, network) == []


@cache
def pod() -> Cluster:
    return cluster_of(superpod(40))


def planned(text: str) -> tuple[Cluster, Subnet]:
    cluster = cluster_of(text)
    return cluster, bring_up(planned_net(cluster), seconds=400)


@pytest.mark.parametrize(
    "nodes",
    [16, 20, 128, *(pytest.param(nodes, marks=pytest.mark.long) for nodes in (2, 4, 8, 31, 32, 64, 127, 256))],
)
def test_the_fabric_of_a_size_comes_up_and_is_as_planned(nodes: int) -> None:
    """16 nodes have two rails on a leaf, 20 three spines, and up to 8 one switch, which is no tree."""
    cluster, subnet = planned(superpod(nodes))
    assert subnet.is_fat_tree == (nodes > 8)
    assert codes(cluster, subnet) == []
    engines = re.findall(r"dump_routing_engine: +name: (\S+)", subnet.log)
    assert "ftree" in engines
    assert not [name for name in engines if name.startswith("ar_")], "adaptive-routing-absent says so"


@pytest.mark.long
@pytest.mark.parametrize("nodes", [2, 16, 31, 64, 256])
@pytest.mark.parametrize(
    ("system", "rate", "leaf"), [("dgx-b300", "XDR", "q3400"), ("gb200-nvl72-tray", "NDR", "qm9700")]
)
def test_the_fabric_of_another_system_is_as_planned(system: str, rate: str, leaf: str, nodes: int) -> None:
    text = superpod(nodes, plan=f"leaf: {leaf}").replace("dgx-h100", system).replace("rate: NDR", f"rate: {rate}")
    text = text.replace("ubuntu-22.04", "ubuntu-24.04")
    cluster, subnet = planned(text)
    assert subnet.is_fat_tree == any(switch.uplinks for switch in cluster.switches)
    assert codes(cluster, subnet) == []


@pytest.mark.long
@pytest.mark.parametrize("plan", ["leaf: qm9700", "leaf: qm9700, oversubscription: 3"])
def test_512_nodes_are_a_fat_tree(plan: str) -> None:
    """Non-blocking they need three tiers."""
    cluster, subnet = planned(superpod(512, plan=plan))
    assert subnet.is_fat_tree
    assert codes(cluster, subnet) == []


_ALWAYS = ("cable-missing", "cable-crossed", "switch-missing", "rail-swapped", "crossed nodes")


@pytest.mark.parametrize(
    "name", [name if name in _ALWAYS else pytest.param(name, marks=pytest.mark.long) for name in FAULTS]
)
def test_a_fault_is_found_in_what_ibnetdiscover_prints(name: str) -> None:
    plant, code, words = FAULTS[name]
    net = planned_net(pod())
    plant(net)
    subnet = bring_up(net)
    assert codes(pod(), subnet) == [code]
    assert words in str(check_infiniband(pod(), subnet.discovered.encode(), "fabric.txt").groups)
    # opensm notices unequal bundles and a leaf below a leaf, but neither a missing spine nor nodes on another rail.
    assert subnet.is_fat_tree == (name not in ("cable-missing", "cable-crossed", "switch-unplanned"))


def by_name(facts: Facts) -> set[frozenset[tuple[str, str]]]:
    return {frozenset((facts.devices[end.device].name, end.port) for end in (link.a, link.b)) for link in facts.links}


def test_the_nets_of_other_tests_are_printed_as_the_program_prints_them() -> None:
    net = Net({"leaf1": 8, "leaf2": 8, "spine1": 8})
    for number in (1, 2):
        for port in (1, 2, 3):
            net.join((f"gpu{number}{port} mlx5_0", 1), (f"leaf{number}", port))
        net.join((f"leaf{number}", 7), ("spine1", 2 * number))
        net.join((f"leaf{number}", 8), ("spine1", 2 * number + 1))
    real, remarks = ibnetdiscover.read(bring_up(net).discovered.encode(), "real")
    made, _ = ibnetdiscover.read(net.discovered().encode(), "made")
    assert real is not None
    assert made is not None
    assert not remarks
    assert by_name(real) == by_name(made)
    assert {device.name: device.kind for device in real.devices.values()} == {
        device.name: device.kind for device in made.devices.values()
    }


PAGE = ROOT / "docs/fabric-check.md"


def test_the_paths_and_counters_of_the_page_are_what_the_programs_print() -> None:
    """With right cables, ibtracert and perfquery print the page's lines; it leaves out counters of data."""
    page = PAGE.read_text(encoding="utf-8")
    manifest = page.partition("```yaml manifest file=manifest.yaml\n")[2].partition("```")[0]
    sessions = re.findall(r"^```console\n(\$ (?:ibtracert|perfquery) .*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(sessions) == 3
    counters = {"SymbolErrorCounter": 120, "LinkDownedCounter": 3, "PortRcvErrors": 57}
    planted = [f'PerformanceSet "leaf1"[2] PortCounters.{name}={value}' for name, value in counters.items()]
    commands = [session.partition("\n")[0].removeprefix("$ ") for session in sessions]
    subnet = bring_up(planned_net(cluster_of(manifest)), commands=[*planted, *commands, "ibtracert 1 77"])
    printed = re.sub(r"^Port(Xmit|Rcv)(Data|Pkts|Wait):.*\n", "", subnet.printed, flags=re.MULTILINE)
    assert "".join(sessions) in printed
    assert "can't find a route from src to dest" in printed
