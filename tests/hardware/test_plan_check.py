"""The fabric against its plan: each planted fault is reported with its own code, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import pytest

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import CODES
from clustergen.hardware.check import check_infiniband
from clustergen.hardware.findings import Report
from strategies.fabric_faults import FAULTS, UNNAMED
from strategies.fabric_nets import Net, cluster_of, planned_net, superpod
from strategies.findings import report_words
from strategies.reviewed import same

RACKS = """\
racks:
  "n[1-10]": {nodes: "gpu[0001-0040]", row: a, units: 48}
  "net[1-2]": {row: a, units: 48}
"""


@cache
def pod() -> Cluster:
    return cluster_of(superpod(40, more=RACKS, plan='leaf: qm9700, racks: "net[1-2]"'))


@cache
def right() -> Net:
    return planned_net(pod())


def check(net: Net, cluster: Cluster | None = None) -> Report:
    return check_infiniband(cluster or pod(), net.discovered().encode(), "fabric.txt")


def messages(report: Report) -> str:
    return "\n".join(one.message for one in report.diagnostics())


@pytest.mark.slow
def test_the_planned_fabric_has_no_findings() -> None:
    report = check(right())
    assert not report.diagnostics()
    assert report.agreement == "832 of 832 planned cables are linked as planned"


@pytest.mark.parametrize(
    ("other", "code", "words"),
    [
        (3, "rail-swapped", "planned: mlx5_0 on leaf01, mlx5_5 on leaf02"),
        (1, "cable-port", "gpu0004"),
        (None, "cable-missing", "gpu0004 mlx5_0 (OSFP4P2) – leaf01 port 7"),
    ],
)
def test_a_fault_on_a_leaf_that_rails_share_is_found(other: int | None, code: str, words: str) -> None:
    """16 nodes have rails 0 and 1 on leaf01, 2 and 3 on leaf02."""
    cluster = cluster_of(superpod(16))
    net = planned_net(cluster)
    assert not check(net, cluster).diagnostics()
    adapters = net.adapters_of("gpu0004")
    if other is None:
        net.cut((adapters[0], 1))
    else:
        net.exchange((adapters[0], 1), (adapters[other], 1))
    report = check(net, cluster)
    assert [group.code for group in report.groups] == [code]
    assert words in messages(report)


def of_fault(name: str) -> Report:
    net = right().copy()
    FAULTS[name][0](net)
    return check(net)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_nothing_else(name: str) -> None:
    _, code, words = FAULTS[name]
    report = of_fault(name)
    assert [group.code for group in report.groups] == [code]
    assert words in messages(report)
    same("cabling", report_words(report))


def test_a_finding_names_rack_unit_and_port() -> None:
    net = right().copy()
    net.cut(("gpu0003 mlx5_0", 1))
    text = messages(check(net))
    assert "gpu0003 mlx5_0 (OSFP4P2, n1 U" in text
    assert "leaf01-r0 port 3 (2/1, net1 U" in text


GUEST = "leaf: qm9700, reserved_for: ufm1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "leaf", "port", "codes"),
    [
        (GUEST, "leaf01-r0", 32, []),
        (GUEST, "leaf01-r7", 32, []),
        (GUEST, "leaf02-r0", 32, ["fabric-node-unplanned"]),  # of another unit, which has no reserved port
        (GUEST, "leaf01-r0", 3, ["cable-misplaced"]),  # a node's port
        ("leaf: qm9700, reserved_for: gateway1", "leaf01-r0", 32, ["fabric-node-unplanned"]),
        ("leaf: qm9700, reserved: 1", "leaf01-r0", 32, ["fabric-node-unplanned"]),
    ],
)
def test_a_device_on_a_port_that_is_reserved_for_it_is_expected(
    plan: str, leaf: str, port: int, codes: list[str]
) -> None:
    cluster = cluster_of(superpod(40, plan=plan))
    net = planned_net(cluster)
    if (leaf, port) in net.links:
        net.cut((leaf, port))
    net.join((leaf, port), ("ufm1 mlx5_0", 1))
    assert [group.code for group in check(net, cluster).groups] == codes


@pytest.mark.slow
def test_a_port_of_a_node_is_not_reserved_for_a_device_when_the_node_is_elsewhere() -> None:
    cluster = cluster_of(superpod(40, plan=GUEST))
    net = planned_net(cluster)
    net.cut(("leaf01-r0", 3))
    net.join(("leaf02-r0", 32), ("gpu0003 mlx5_0", 1))
    net.join(("leaf01-r0", 3), ("ufm1 mlx5_0", 1))
    assert [group.code for group in check(net, cluster).groups] == ["cable-misplaced", "fabric-node-unplanned"]


def test_two_nodes_to_a_port_by_splitter_cables() -> None:
    """Each plug has a number of its own, and the uplinks of that leaf those of their whole cages."""
    text = superpod(96, plan="leaf: qm8700").replace("{system: dgx-h100}", "{system: dgx-h100, nics: [{model: cx6}]}")
    cluster = cluster_of(
        text.replace("rate: NDR", "rate: HDR100").replace("{model: cx6}", "{device: mlx5_0, model: cx6}")
    )
    net = planned_net(cluster)
    net.rates = {end: "2xHDR" if end[0].startswith("gpu") else "4xHDR" for end in net.links}
    assert not check(net, cluster).diagnostics()
    assert net.port_of("gpu0002 mlx5_0") == ("leaf01", 2)
    uplinks = [port for (device, port), other in net.links.items() if device == "leaf01" and other[0] in net.switches]
    assert uplinks
    assert all(port % 2 for port in uplinks)
    net.cut(("leaf01", max(uplinks)))
    (group,) = check(net, cluster).groups
    assert group.code == "cable-missing"


def many_faults() -> Report:
    """Two of each kind, so that headlines count them."""
    net = right().copy()
    for name in ("cable-crossed", "crossed nodes"):
        FAULTS[name][0](net)
    for number, host in enumerate(("gpu0011", "gpu0012", "gpu0033", "gpu0034")):  # on another leaf, in another port
        net.cut((f"{host} mlx5_0", 1))
        net.join((f"{host} mlx5_0", 1), ("leaf02-r0", 27 + number))
    for number, host in enumerate(("gpu0009", "gpu0010")):
        adapters = net.adapters_of(host)
        net.exchange((adapters[0], 1), (adapters[3], 1))
        net.rename({adapters[5]: f"{UNNAMED} {host}"})
        net.cut((adapters[6], 1))
        for adapter in net.adapters_of(f"gpu002{number}"):
            net.cut((adapter, 1))
        net.join((f"head mlx5_{number}", 1), ("leaf02-r1", 28 + number))
        net.join((f"ufm{number} mlx5_0", 1), ("leaf02-r7", 28 + number))
        net.switches[f"gateway{number}"] = 40
        net.join((f"gateway{number}", 1), ("leaf02-r6", 28 + number))
    for leaf in ("leaf01-r4", "leaf02-r3"):
        for port in (33, 34, 35):
            net.cut((leaf, port))
    net.rates = {("leaf01-r0", 1): "1xNDR", ("leaf01-r0", 40): "4xHDR"}
    return check(net)


def two_switches() -> Report:
    net = right().copy()
    for name in ("spine03", "leaf01-r5"):
        net.remove(name)
    return check(net)


def test_many_of_a_kind_are_counted_and_listed() -> None:
    report = many_faults()
    assert [group.code for group in report.groups if not group.headline] == []
    same("cabling", report_words(report))
    same("cabling", report_words(two_switches()))


def other_names(net: Net) -> dict[str, str]:
    """Names that say nothing, in an order that is not the plan's."""
    return {name: f"MF0;SW-{number * 7 % 101:03}:MQM9700/U1" for number, name in enumerate(net.switches)}


@pytest.mark.slow
def test_switches_with_their_own_names_are_recognised_by_what_is_linked() -> None:
    net = right().copy()
    net.rename(other_names(net))
    report = check(net)
    assert not report.diagnostics()
    assert "24 of 24 switches of the plan recognised: 24 by what they are linked with" in report.remarks[-1]


def of_renamed(name: str) -> Report:
    net = right().copy()
    FAULTS[name][0](net)
    net.rename(other_names(net))
    return check(net)


RENAMED = [name for name in FAULTS if name != "switch-unplanned"]


@pytest.mark.parametrize("name", RENAMED)
def test_faults_are_found_whatever_the_switches_are_called(name: str) -> None:
    report = of_renamed(name)
    assert [group.code for group in report.groups] == [FAULTS[name][1]]
    same("cabling", report_words(report))


def test_managed_switches_are_recognised_by_name() -> None:
    net = right().copy()
    net.rename({name: f"MF0;{name.upper()}:MQM9700/U1" for name in net.switches})
    report = check(net)
    assert not report.diagnostics()
    assert report.remarks[-1].endswith("24 by name")


def test_adapters_of_both_drivers_and_with_domains() -> None:
    net = right().copy()
    spellings = {}
    for name in net.adapters:
        host, _, device = name.partition(" ")
        number = int(device.removeprefix("mlx5_"))
        spellings[name] = f"{host}.cluster.local HCA-{number + 1}" if int(host[-1]) % 2 else name
    net.rename(spellings)
    assert not check(net).diagnostics()


def test_sharp_and_management_hosts() -> None:
    """Port 65 is the switch's own reduction engine; a UFM host is a finding, and no missing cable."""
    net = right().copy()
    for number, switch in enumerate(list(net.switches)):
        net.join(("Mellanox Technologies Aggregation Node" + " " * number, 1), (switch, 65))
    assert not check(net).diagnostics()


def test_a_node_without_names_is_not_missing() -> None:
    net = right().copy()
    net.rename({name: UNNAMED + " " * number for number, name in enumerate(net.adapters_of("gpu0009"))})
    (group,) = check(net).groups
    assert group.code == "adapter-unnamed"
    assert len(group.items) == 8


def other_cluster() -> Report:
    net = right().copy()
    net.rename({name: f"other{name}" for name in (*net.adapters, *net.switches)})
    net.cut(("otherleaf01-r0", 33))
    return check(net)


@pytest.mark.parametrize("code", ["fabric-mismatch"])
def test_the_fabric_of_another_cluster_is_compared_with_itself(code: str) -> None:
    report = other_cluster()
    assert [group.code for group in report.groups] == [code, "bundle-uneven"]
    same("cabling", report_words(report))


def two_machines() -> Report:
    net = right().copy()
    net.join(("gpu0001 mlx5_0 ", 1), ("leaf02-r0", 30))
    text = net.discovered().replace('"gpu0001 mlx5_0 "', '"gpu0001 mlx5_0"')
    return check_infiniband(pod(), text.encode(), "fabric.txt")


@pytest.mark.parametrize("code", ["adapter-twice"])
def test_two_machines_of_one_name(code: str) -> None:
    report = two_machines()
    assert code in [group.code for group in report.groups]
    same("cabling", report_words(report))


@pytest.mark.parametrize("code", ["discovery-incomplete"])
def test_rows_after_the_cut_of_a_file_are_not_missing(code: str) -> None:
    text = right().discovered()
    report = check_infiniband(pod(), text[: len(text) // 3].encode(), "fabric.txt")
    assert [one.code for one in report.reading if one.severity == "error"] == [code]
    assert not [group for group in report.groups if "missing" in group.code]


SPOILT: dict[str, Callable[[str], str]] = {
    "discovery-unreadable": lambda text: "",
    "discovery-line-unknown": lambda text: text + "ibwarn: timeout\n",
    "discovery-contradiction": lambda text: text.replace("[33]\t", "[32]\t", 1),
}


def of_spoilt(code: str) -> Report:
    return check_infiniband(pod(), SPOILT[code](right().discovered()).encode(), "fabric.txt")


@pytest.mark.parametrize("code", SPOILT)
def test_errors_of_the_file_are_reported(code: str) -> None:
    report = of_spoilt(code)
    assert code in [one.code for one in report.reading]
    same("cabling", report_words(report))


def test_every_code_of_a_cabling_has_a_fault_that_shows_it() -> None:
    planted = {"rail-swapped", "cable-crossed", "cable-misplaced", "cable-missing", "cable-port", "cable-unplanned"}
    planted |= {"switch-missing", "switch-unplanned", "fabric-node-missing", "fabric-node-unplanned", "adapter-unnamed"}
    assert planted == {code for _, code, _ in FAULTS.values()}
    others = {"bundle-uneven", "cable-slow", "adapter-twice", "fabric-mismatch"}  # have tests of their own
    codes = {code for code, entry in CODES.items() if entry.topic == "Fabric check"}
    assert planted | others == {code for code in codes if not code.startswith("discovery-")}


@pytest.mark.slow
def test_a_fabric_that_is_compared_with_the_wrong_plan_ends_soon() -> None:
    """512 nodes against their plan, all cables permuted: linear, not a search."""
    cluster = cluster_of(superpod(512))
    net = planned_net(cluster)
    hosts = sorted({name.partition(" ")[0] for name in net.adapters})
    turned = dict(zip(hosts, [*hosts[100:], *hosts[:100]], strict=True))
    net.rename({name: f"{turned[name.partition(' ')[0]]} {name.partition(' ')[2]}" for name in net.adapters})
    raw = net.discovered().encode()
    start = time.process_time()
    report = check_infiniband(cluster, raw, "fabric.txt")
    assert time.process_time() - start < 10
    assert report.groups
