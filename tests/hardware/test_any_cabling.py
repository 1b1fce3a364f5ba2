"""Cables that are cut, exchanged or renamed give findings and no traceback; a fabric as planned gives none."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import CODES
from clustergen.hardware.check import check_infiniband
from strategies.fabric_faults import UNNAMED
from strategies.fabric_nets import Net, cluster_of, planned_net

pytestmark = pytest.mark.slow

MANIFEST = """\
name: small
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24}
  fabric:
    type: infiniband
    rate: HDR
    switches:
      - {name: leaf1, model: qm8700, nodes: "gpu[1-3]", rail: 0, uplinks: [{to: "spine[1-2]", links: 2}]}
      - {name: leaf2, model: qm8700, nodes: "gpu[1-3]", rail: 1, uplinks: [{to: "spine[1-2]", links: 2}]}
      - {name: leaf3, model: qm8700, nodes: "gpu[4-5]", rail: 0, uplinks: [{to: "spine[1-2]", links: 2}]}
      - {name: leaf4, model: qm8700, nodes: "gpu[4-5]", rail: 1, uplinks: [{to: "spine[1-2]", links: 2}]}
      - {name: "spine[1-2]", model: qm8700}
node_types:
  gpu:
    cpu: {sockets: 2, cores_per_socket: 32}
    memory: 512GiB
    gpus: {model: a100-sxm-80, count: 4, numa: [0, 0, 1, 1]}
    nics: [{device: mlx5_0, model: cx6, numa: 0}, {device: mlx5_1, model: cx6, numa: 1}]
nodes:
  - {name: head, type: service, address: 10.0.0.10, roles: [slurm-controller]}
  - {name: "gpu[1-5]", type: gpu, address: "10.0.0.[11-15]"}
slurm: {version: "24.11"}
"""


@cache
def cluster() -> Cluster:
    return cluster_of(MANIFEST)


@cache
def right() -> Net:
    net = planned_net(cluster())
    net.rates = dict.fromkeys(net.links, "4xHDR")
    return net


_STEPS = st.lists(
    st.tuples(st.sampled_from(["cut", "exchange", "remove", "rename"]), st.integers(0, 99), st.integers(0, 99)),
    max_size=8,
)


@given(_STEPS, st.booleans())
def test_any_cabling(steps: list[tuple[str, int, int]], are_switches_renamed: bool) -> None:
    net = right().copy()
    for number, (kind, one, two) in enumerate(steps):
        ends = sorted(net.links)
        if not ends:
            break
        a, b = ends[one % len(ends)], ends[two % len(ends)]
        devices = [*net.switches, *net.adapters]
        match kind:
            case "cut":
                net.cut(a)
            case "exchange" if net.links[a] != b and a != b:
                net.exchange(a, b)
            case "remove":
                net.remove(devices[one % len(devices)])
            case "rename":
                device = devices[one % len(devices)]
                net.rename({device: UNNAMED + " " * number if device not in net.switches else f"other{number}"})
    names = {name: f"MF0;SW{number}:MQM8700/U1" for number, name in enumerate(net.switches)}
    is_planned = net.links == right().links
    if are_switches_renamed:
        net.rename(names)
    report = check_infiniband(cluster(), net.discovered().encode(), "fabric.txt")
    if is_planned:
        assert not report.diagnostics()
    elif not are_switches_renamed and all(kind != "rename" for kind, _, _ in steps):
        assert report.diagnostics()


@given(
    st.lists(
        st.tuples(st.integers(0, 9999), st.integers(0, 9999), st.sampled_from(["swap", "drop", "copy"])), max_size=6
    )
)
def test_any_damage_to_the_lines(changes: list[tuple[int, int, str]]) -> None:
    """Lines of the file that are exchanged, lost or doubled."""
    lines = right().discovered().splitlines()
    for one, two, kind in changes:
        a, b = one % len(lines), two % len(lines)
        if kind == "swap":
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == "copy":
            lines.insert(a, lines[b])
        else:
            del lines[a]
    text = "\n".join(lines) + "\n"
    for plan in (cluster(), without_plan()):
        report = check_infiniband(plan, text.encode(), "fabric.txt")
        assert all(one.code in CODES for one in report.diagnostics())


@cache
def without_plan() -> Cluster:
    head, _, tail = MANIFEST.partition("    switches:\n")
    return cluster_of(head + tail[tail.index("node_types:") :])
