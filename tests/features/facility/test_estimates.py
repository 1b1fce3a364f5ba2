"""Bandwidth and times against published figures."""

from __future__ import annotations

import pytest

from clustergen.features.facility.estimates import (
    all_reduces,
    bisection,
    checkpoint_seconds,
    ring_seconds,
    tree_seconds,
)
from clustergen.units import BitRate, ByteRate, Bytes
from facility.test_cables import superpod
from strategies.trees import cluster_of, manifest


def test_the_bus_bandwidth_of_nccl_tests():
    """nccl-tests, doc/PERFORMANCE.md: busbw = size / time x 2 (n - 1) / n."""
    size, ranks, bus = Bytes(2**30), 16, ByteRate.parse("344GB/s")
    time = ring_seconds(size, ranks, bus)
    assert size.value / time * 2 * (ranks - 1) / ranks == pytest.approx(bus.value)


def test_a_tree_moves_the_message_twice():
    """NCCL's tuning converts the bus bandwidth of a tree by 0.5 (src/graph/tuning.cc)."""
    assert tree_seconds(Bytes.parse("8GB"), ByteRate.parse("400GB/s")) == pytest.approx(0.04)


# Measured with nccl-tests, ring, in GB/s: 8 x B200 with 8 x NDR; 8 x H100 and 8 x H200 by NVLink alone.
MEASURED = [
    *(("dgx-b200", 2, 344), ("dgx-b200", 4, 311), ("dgx-b200", 16, 307), ("dgx-b200", 64, 288)),
    *(("dgx-h100", 1, 370), ("dgx-h200", 1, 367.61), ("dgx-a100-80", 1, 234.89), ("dgx-b200", 1, 682.2)),
]


@pytest.mark.parametrize(("system", "nodes", "measured"), MEASURED)
def test_measured_power_is_below_and_near_the_estimate(system, nodes, measured, tmp_path):
    data = manifest(node_types={"gpu": {"system": system}})
    data["nodes"][1] |= {"name": f"c[1-{nodes}]", "address": f"10.0.0.[11-{10 + nodes}]"}
    data["networks"]["fabric"]["rate"] = "HDR" if "a100" in system else "NDR"
    *_, one = all_reduces(cluster_of(data, tmp_path))
    assert one.limit == ("NVLink" if nodes == 1 else "fabric")
    assert 0.7 <= measured / one.bus.gb <= 1


def test_a_ring_stays_on_nvlink_inside_a_domain_and_leaves_it_by_all_ports(tmp_path):
    """72 GPUs of one rack reach 835 to 847 GB/s; four racks leave by 72 ports each, which carry more than NVLink."""
    data = manifest(node_types={"gpu": {"system": "gb200-nvl72-tray"}})
    data["nodes"][1] |= {"name": "c[01-72]", "address": "10.0.0.[11-82]"}
    inside, rack, whole = all_reduces(cluster_of(data, tmp_path))
    assert (inside.gpus, rack.gpus, whole.gpus) == (4, 72, 288)
    assert {one.limit for one in (inside, rack, whole)} == {"NVLink"}
    assert 0.9 <= 835 / rack.bus.gb <= 1


def test_eight_hdr_ports_for_64_gpus_are_bytes_and_not_bits(tmp_path):
    """A guide divided gigabytes by gigabits: one port of 200 Gb/s is 25 GB/s."""
    data = manifest()
    data["node_types"]["gpu"] = {"system": "hgx-h100-8", "nics": data["node_types"]["gpu"]["nics"][:1]}
    data["networks"]["fabric"]["rate"] = "HDR"
    data["nodes"][1] |= {"name": "c[1-8]", "address": "10.0.0.[11-18]"}
    *_, one = all_reduces(cluster_of(data, tmp_path))
    assert (one.gpus, one.bus) == (64, ByteRate.parse("25GB/s"))
    assert one.times[0].ring_s - one.ring_latency_s == pytest.approx(2 * 63 / 64 * 2**30 / 25e9)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "ratio", "tbits"), [(127, 1, 203.2), (96, 3, 51.2), (96, 1, 153.6)])
def test_bisection_of_scalable_units(nodes, ratio, tbits, tmp_path):
    """Nodes x 8 rails x 400 Gb/s: half of it in one direction, divided by the oversubscription."""
    data = superpod(oversubscription=ratio, reserved=0)
    data["nodes"][1] |= {"name": f"c[001-{nodes:03}]", "address": f"10.0.0.[11-{nodes + 10}]"}
    del data["racks"], data["networks"]["fabric"]["plan"]["racks"]
    half = bisection(cluster_of(data, tmp_path))
    assert half is not None
    assert (half.rate.gbit / 1000, half.ratio) == (pytest.approx(tbits), pytest.approx(ratio))


def test_one_switch_blocks_nothing(tmp_path):
    data = manifest()
    data["networks"]["fabric"]["plan"] = {"leaf": "qm9700"}
    half = bisection(cluster_of(data, tmp_path))
    assert half is not None
    assert (half.rate, half.ratio) == (BitRate.parse("1.6Tb/s"), 1)


def test_unknown_rates_give_no_bisection(tmp_path):
    data = manifest()
    del data["networks"]["fabric"]["rate"]
    leaves = [{"name": f"leaf{n}", "nodes": f"c[{n},{n + 2}]", "uplinks": [{"to": "top"}]} for n in (1, 2)]
    data["networks"]["fabric"]["switches"] = [*leaves, {"name": "top"}]
    assert bisection(cluster_of(data, tmp_path)) is None


@pytest.mark.slow
def test_three_tiers_pass_all_of_the_nodes(tmp_path):
    data = superpod()
    data["nodes"][1] |= {"name": "c[001-512]", "address": "10.0.2.[1-254],10.0.3.[1-254],10.0.4.[1-4]"}
    data["networks"]["management"]["cidr"] = "10.0.0.0/16"
    del data["racks"], data["networks"]["fabric"]["plan"]["racks"], data["networks"]["fabric"]["plan"]["reserved"]
    half = bisection(cluster_of(data, tmp_path))
    assert half is not None
    assert (half.rate.gbit, half.ratio) == (512 * 8 * 400 / 2, 1)


@pytest.mark.parametrize(
    ("nodes", "seconds"),
    [(100, 25.0), (1, 40.0), (2, 25.0)],
)
def test_a_checkpoint_waits_for_storage_or_ports(nodes, seconds):
    """1 TB at 40 GB/s; one node has a port of 200 Gb/s, which is 25 GB/s."""
    size, storage = Bytes.parse("1TB"), ByteRate.parse("40GB/s")
    assert checkpoint_seconds(size, nodes, BitRate.parse("200Gb/s"), storage) == pytest.approx(seconds)
