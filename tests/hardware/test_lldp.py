"""RoCE fabrics by LLDP: the output formats of lldpcli, and a plan compared with the neighbours of the hosts.

The forms are those of lldpd 1.0.16 with `-f json` and `-f json0`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from clustergen.cli import group
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import CODES, Diagnostic
from clustergen.hardware import lldp
from clustergen.hardware.check import check_infiniband, check_lldp
from clustergen.hardware.expected import expected
from clustergen.hardware.findings import Report
from clustergen.hardware.model import End
from strategies.fabric_nets import Net, cluster_of, planned_net, superpod
from strategies.findings import report_words, words
from strategies.reviewed import same

Neighbour = tuple[str, str, str]
"""Interface here, name there, port there."""
MANIFEST = (
    superpod(4, plan="leaf: sn5600, unit: 2")
    .replace("type: infiniband", "type: roce")
    .replace("rate: NDR", "rate: 400Gb/s\n    routing: bridged")
)


def as_json(neighbours: list[Neighbour]) -> dict[str, Any]:
    """`-f json`: names are keys, and a list of one is its entry."""
    entries = [
        {
            interface: {
                "via": "LLDP",
                "rid": "1",
                "age": "0 day, 00:00:04",
                "chassis": {system: {"id": {"type": "mac", "value": "5a:c1:12:94:3f:a7"}, "descr": "a switch"}},
                "port": {"id": {"type": "ifname", "value": port}, "descr": port, "ttl": "120"},
            }
        }
        for interface, system, port in neighbours
    ]
    return {"lldp": {"interface": entries[0] if len(entries) == 1 else entries} if entries else {}}


def as_json0(neighbours: list[Neighbour]) -> dict[str, Any]:
    """`-f json0`: everything is a list."""
    entries = [
        {
            "name": interface,
            "via": "LLDP",
            "chassis": [{"id": [{"type": "mac", "value": "5a:c1:12:94:3f:a7"}], "name": [{"value": system}]}],
            "port": [
                {"id": [{"type": "ifname", "value": port}], "descr": [{"value": port}], "ttl": [{"value": "120"}]}
            ],
        }
        for interface, system, port in neighbours
    ]
    return {"lldp": [{"interface": entries}] if entries else [{}]}


@cache
def pod() -> Cluster:
    return cluster_of(MANIFEST)


@cache
def right() -> Net:
    return planned_net(pod())


def heard(net: Net, *, of_switches: bool = True, interfaces: bool = True) -> dict[str, list[Neighbour]]:
    """LLDP neighbours of each device; of a switch, the second half of cage 3 is swp3s1, and a whole cage is swp3."""
    plan = expected(pod(), "fabric")
    names = {host: {one[0]: one[-1] for one in ports} for host, ports in plan.adapters.items()}

    def end(device: str, port: int) -> tuple[str, str]:
        if device in net.switches:
            cage, _, part = plan.labels.get(End(device, str(port)), str(port)).partition("/")
            return device, f"swp{cage}" + (f"s{int(part) - 1}" if part else "")
        host, _, nic = device.partition(" ")
        return host, names[host].get(nic, nic) if interfaces else nic

    neighbours: dict[str, list[Neighbour]] = {}
    for one, two in net.links.items():
        host, interface = end(*one)
        neighbours.setdefault(host, [])
        if of_switches or one[0] not in net.switches:
            neighbours[host].append((interface, *end(*two)))
    return {host: ends for host, ends in neighbours.items() if of_switches or host not in net.switches}


def check(
    neighbours: dict[str, list[Neighbour]], form: Callable[[list[Neighbour]], dict[str, Any]] = as_json
) -> Report:
    return check_lldp(pod(), {host: json.dumps(form(ends)).encode() for host, ends in neighbours.items()}, "lldp")


@pytest.mark.parametrize("form", [as_json, as_json0])
@pytest.mark.parametrize("of_switches", [True, False], ids=["with switches", "hosts alone"])
def test_the_planned_fabric(form: Callable[[list[Neighbour]], dict[str, Any]], of_switches: bool) -> None:
    report = check(heard(right(), of_switches=of_switches), form)
    assert not report.diagnostics()
    assert not any("by device alone" in remark for remark in report.remarks)
    links = 48 if of_switches else 32
    assert report.agreement == f"{links} of 48 planned cables are linked as planned"


def test_interfaces_by_the_names_of_their_rdma_devices() -> None:
    assert not check(heard(right(), interfaces=False)).diagnostics()


FAULTS: dict[str, tuple[Callable[[Net], object], str]] = {
    "node cable": (lambda net: net.cut(("gpu0001 mlx5_0", 1)), "cable-missing"),
    "uplink": (lambda net: net.cut(("leaf01-r0", 127)), "cable-missing"),
    "swap": (lambda net: net.exchange(("gpu0001 mlx5_0", 1), ("gpu0001 mlx5_3", 1)), "rail-swapped"),
    "crossed": (lambda net: net.exchange(("gpu0001 mlx5_0", 1), ("gpu0003 mlx5_0", 1)), "cable-crossed"),
    "switch": (lambda net: net.remove("spine01"), "switch-missing"),
}


def of_fault(name: str) -> Report:
    net = right().copy()
    FAULTS[name][0](net)
    return check(heard(net))


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    report = of_fault(name)
    assert [group.code for group in report.groups] == [FAULTS[name][1]]
    same("cabling", report_words(report))


def not_asked() -> Report:
    neighbours = heard(right(), of_switches=False)
    del neighbours["gpu0002"]
    return check(neighbours)


def test_facts_that_were_not_asked_are_not_missing() -> None:
    report = not_asked()
    assert [one.code for one in report.reading] == ["discovery-incomplete"]
    same("cabling", report_words(report))


def hears_nothing() -> Report:
    return check({**heard(right(), of_switches=False), "gpu0002": []})


def test_a_node_that_hears_nothing() -> None:
    report = hears_nothing()
    assert [group.code for group in report.groups] == ["fabric-node-missing"]
    same("cabling", report_words(report))


def test_other_networks_are_left_out() -> None:
    neighbours = heard(right())
    for host in ("gpu0001", "gpu0002"):
        neighbours[host].append(("eno1", "oob-switch", "Ethernet7"))
    neighbours["leaf01-r0"].append(("eth0", "oob-switch", "Ethernet12"))
    assert not check(neighbours).diagnostics()


def other_port() -> Report:
    neighbours = heard(right(), of_switches=False)
    _, leaf, port = neighbours["gpu0001"][0]
    neighbours["gpu0001"][0] = ("eth7", leaf, port)
    return check(neighbours)


def test_a_port_that_the_plan_does_not_have_is_reported_on_a_switch_of_the_fabric() -> None:
    """With the switch that it is on, as it may be the planned port under another name."""
    same("cabling", report_words(other_port()))


def test_ports_with_names_of_another_system_are_compared_by_device() -> None:
    text = json.dumps(heard(right()))
    named = re.sub(r"swp(\d+)(?:s(\d))?", lambda match: f"Ethernet1/{match[1]}/{match[2] or 0}", text)
    neighbours = {host: [(a, b, c) for a, b, c in ends] for host, ends in json.loads(named).items()}
    report = check(neighbours)
    assert not report.diagnostics()
    assert "by device alone" in report.remarks[-1]


UNREADABLE = {
    "empty": b"",
    "binary": b"\xff\0",
    "deep": b"[" * 100_000,
    "list": b"[]",
    "number": b'{"lldp": 5}',
    "large": b" " * (lldp.MOST_BYTES + 1),
}


def of_unreadable(name: str) -> Diagnostic:
    facts, (one,) = lldp.read({"gpu0001": UNREADABLE[name]}, "lldp", frozenset({"gpu0001"}))
    assert facts is None
    return one


@pytest.mark.parametrize("name", UNREADABLE)
def test_files_without_lldp_output(name: str) -> None:
    one = of_unreadable(name)
    assert one.code == "discovery-unreadable"
    same("cabling", words([one]))


_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["interface", "name", "chassis", "port", "id", "value", "eth0"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


def test_a_file_of_another_kind_for_an_ethernet_fabric() -> None:
    report = check_infiniband(cluster_of(MANIFEST), b"Linux gpu1 6.1\n", "fabric.txt")
    assert [one.hint for one in report.reading] == [f"networks.fabric is roce: {lldp.HINT}"]


@pytest.mark.parametrize(
    ("network", "section"),
    [("fabric", ""), ("storage", ""), ("storage", "  storage: {plan: {leaf: qm9700}}\n")],
    ids=["stated", "no such network", "planned"],
)
def test_a_file_of_another_kind_for_a_network_that_is_not_ethernet(network: str, section: str) -> None:
    cluster = cluster_of(superpod(4).replace("networks:\n", f"networks:\n{section}"))
    assert (cluster.networks.storage is None) == (not section)
    report = check_infiniband(cluster, b"Linux gpu1 6.1\n", "fabric.txt", network)
    assert "run ibnetdiscover" in str(report.reading[0].hint)


@pytest.mark.slow
@given(_VALUES)
def test_any_json_ends_in_findings(value: object) -> None:
    raw = json.dumps({"lldp": {"interface": value}}).encode()
    assert all(one.code in CODES for one in lldp.read({"gpu0001": raw}, "lldp", frozenset({"gpu0001"}))[1])


def test_a_directory_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    Path("lldp").mkdir()
    net = right().copy()
    net.cut(("gpu0004 mlx5_0", 1))
    for host, ends in heard(net).items():
        Path(f"lldp/{host}.json").write_text(json.dumps(as_json(ends)), encoding="utf-8")
    done = CliRunner().invoke(group, ["fabric", "check", "manifest.yaml", "lldp"])
    assert done.exit_code == 1
    assert "error[cable-missing]: gpu0004 mlx5_0" in done.stdout


def test_odd_entries_of_a_directory_are_findings_of_their_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    Path("lldp").mkdir()
    for host, ends in heard(right()).items():
        Path(f"lldp/{host}.json").write_text(json.dumps(as_json(ends)), encoding="utf-8")
    Path("lldp/dir.json").mkdir()
    os.mkfifo("lldp/fifo.json")
    Path("lldp/link.json").symlink_to("/etc/passwd")
    Path("lldp/..json").write_text("{}", encoding="utf-8")
    done = CliRunner().invoke(group, ["fabric", "check", "manifest.yaml", "lldp"])
    assert done.exit_code == 1
    for name, kind in (("dir", "directory"), ("fifo", "pipe"), ("link", "symbolic link"), (".", "names no host")):
        assert re.search(rf"lldp/{re.escape(name)}\.json: error\[discovery-unreadable\]: .*{kind}", done.stdout)


def test_a_neighbour_without_a_name_is_a_finding() -> None:
    raw = json.dumps(as_json([("eth0", ".", "swp1")])).encode()
    facts, (finding,) = lldp.read({"gpu0001": raw}, "lldp", frozenset({"gpu0001"}))
    assert facts is None
    assert "no name" in finding.message


@pytest.mark.parametrize("limit", ["MOST_BYTES_OF_ALL", "MOST_LINKS"])
def test_all_files_have_one_limit(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lldp, limit, 1)
    files = {f"gpu{one}": json.dumps(as_json([("eth0", "leaf", f"swp{one}")])).encode() for one in (1, 2)}
    facts, findings = lldp.read(files, "lldp", frozenset(files))
    assert facts is None
    assert "not one fabric" in findings[-1].message
