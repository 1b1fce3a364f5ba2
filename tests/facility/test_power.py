"""Power, feeds, cooling, UPS and weight against published figures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.catalogue.facility import airflow_cfm, heat_btu_h
from clustergen.cluster.facility import Ups
from clustergen.cluster.model import Cluster
from clustergen.facility.power import (
    capacity_w,
    continuous_w,
    feed_loads,
    feeds,
    rack_loads,
    room_load,
    run_time_minutes,
)
from clustergen.manifest.hardware import Circuit
from strategies.trees import codes_of, manifest

# Volts, amperes, phases → kVA of the breaker, and kW at 80 % of it with a power factor of 0.95.
# 208 V 30 A three-phase is sold as "8.6 kVA", 415 V 60 A as "34.5 kVA" (at 80 %); the deck for the DGX B200 plans two
# nodes (28.6 kW) on 2 x 380 V 32 A, and four (57.2 kW) on 2 x 415 V 60 A.
CIRCUITS = [
    (208, 30, 3, 10.81, 8.21),
    (208, 60, 3, 21.62, 16.43),
    (380, 32, 3, 21.06, 16.01),
    (400, 16, 3, 11.09, 8.42),
    (400, 32, 3, 22.17, 16.85),
    (400, 63, 3, 43.65, 33.17),
    (415, 60, 3, 43.13, 32.78),
    (208, 30, 1, 6.24, 4.74),
    (230, 16, 1, 3.68, 2.80),
    (120, 20, 1, 2.40, 1.82),
]


@pytest.mark.parametrize(("volts", "amps", "phases", "kva", "kw"), CIRCUITS)
def test_a_feed_carries_what_tables_print(volts, amps, phases, kva, kw):
    circuit = Circuit(volts=volts, amps=amps, phases=phases)
    assert continuous_w(circuit, 1) / 0.8 / 1000 == pytest.approx(kva, abs=0.005)
    assert continuous_w(circuit, 0.95) / 1000 == pytest.approx(kw, abs=0.006)


def cluster_of(directory: Any, **changes: Any) -> Cluster:
    compiled = compiler.validate(_manifest(changes, directory))
    assert compiled.cluster is not None, compiled.diagnostics
    return compiled.cluster


def _manifest(changes: dict[str, Any], directory: Any) -> Any:
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(_room(**changes)), encoding="utf-8")
    return path


def _room(system: str = "dgx-h100", rack: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Four systems in one rack."""
    racks = {"r1": {"nodes": "c[1-4]", "units": 52, **(rack or {})}}
    return manifest(node_types={"gpu": {"system": system}}, racks=racks, **changes)


# NVIDIA's user guides and rack notes: maximum power, weight, and the printed airflow of each system.
@pytest.mark.parametrize(
    ("system", "kw", "kg", "cfm"),
    [("dgx-h100", 40.8, 521.8, 4420), ("dgx-b200", 57.2, 569.6, 6200), ("dell-xe9680", 50.0, 456, None)],
)
def test_a_rack_of_four(system, kw, kg, cfm, tmp_path):
    (one,) = rack_loads(cluster_of(tmp_path, system=system))
    assert one.load.watts == kw * 1000
    assert one.load.weight_kg == pytest.approx(kg, rel=0.01)
    if cfm:
        assert one.load.air_cfm == pytest.approx(cfm, rel=0.01)
    assert one.load.units == (40 if system == "dgx-b200" else 24 if system == "dell-xe9680" else 32)


@pytest.mark.parametrize(
    ("system", "trays", "racks", "kw", "kg", "liquid"),
    [
        ("gb200-nvl72-tray", 18, 1, 132, 1360, 0.85),
        ("gb200-nvl72-tray", 17, 1, 132, 1360, 0.85),
        ("gb200-nvl72-tray", 36, 2, 264, 2720, 0.85),
        ("gb300-nvl72-tray", 18, 1, 142, 1580, 0.9),
    ],
)
def test_trays_count_as_the_rack_that_they_are_sold_in(system, trays, racks, kw, kg, liquid, tmp_path):
    """HPE plans a GB200 NVL72 with 132 kW, NVIDIA a GB300 NVL72 with 142 kW; both with switch trays and shelves."""
    data = _room(system=system, rack={"nodes": f"c[1-{trays}]"})
    data["racks"] = {f"r[1-{racks}]" if racks > 1 else "r1": data["racks"]["r1"]}
    data["nodes"][1] |= {"name": f"c[1-{trays}]", "address": f"10.0.0.[11-{10 + trays}]"}
    (tmp_path / "manifest.yaml").write_text(json.dumps(data), encoding="utf-8")
    cluster = compiler.validate(tmp_path / "manifest.yaml").cluster
    assert cluster is not None
    load = room_load(cluster)
    assert (load.watts, load.weight_kg) == (kw * 1000, kg)
    assert load.liquid_w == pytest.approx(liquid * load.watts)
    assert load.air_cfm == pytest.approx(150 * (1 - liquid) * kw)
    assert sum(one.load.watts for one in rack_loads(cluster)) == load.watts


def test_heat_and_air():
    assert heat_btu_h(14300) == pytest.approx(48800, rel=0.001)
    assert airflow_cfm(14300) == 2145, "NVIDIA's deck for the DGX B200"


def test_feeds_alternate_and_one_side_carries_all(tmp_path):
    circuits = [{"volts": 415, "amps": 60, "count": 4}]
    cluster = cluster_of(tmp_path, rack={"circuits": circuits, "redundant_feeds": True})
    (one,) = rack_loads(cluster)
    assert [feed.name for feed in feeds(one.rack)] == ["A1", "B1", "A2", "B2"]
    assert capacity_w(one.rack, 0.95) == pytest.approx(2 * 32_780, rel=0.001)
    for feed in feed_loads(one.rack, one.load.watts, 0.95):
        assert feed.normal_w == 10_200
        assert feed.failed_w == 20_400
        assert feed.normal == pytest.approx(10.2 / 32.78, abs=0.001)
        assert feed.failed == pytest.approx(20.4 / 32.78, abs=0.001)
        assert feed.amps == pytest.approx(10_200 / 0.95 / 415 / 3**0.5)


def test_the_weaker_side_is_what_redundant_feeds_carry(tmp_path):
    circuits = [{"volts": 400, "amps": amps} for amps in (32, 16)]
    (one,) = rack_loads(cluster_of(tmp_path, rack={"circuits": circuits, "redundant_feeds": True}))
    assert capacity_w(one.rack, 0.95) == pytest.approx(8_420, rel=0.001)
    assert [feed.failed_w for feed in feed_loads(one.rack, 3_000, 0.95)] == [3_000, 3_000]


def test_the_rated_run_time_is_a_lower_bound_below_full_load():
    """SMT1500: 1000 W, 6 minutes at full load and 17 at half (upssize.com, APC UPS runtime)."""
    ups = Ups(power_w=1000, apparent_va=1500, minutes=6, required_minutes=None)
    assert run_time_minutes(ups, 1000) == 6
    assert run_time_minutes(ups, 500) == 12 <= 17
    assert run_time_minutes(ups, 0) is None


@pytest.mark.parametrize(
    ("rack", "facility", "code"),
    [
        ({"weight": 521}, {}, "rack-weight"),
        ({"weight": 522}, {}, None),
        ({"units": 31}, {}, "rack-too-low"),
        ({"circuits": [{"volts": 400, "amps": 0}]}, {}, "value-out-of-range"),
        ({"circuits": [{"volts": 415, "amps": 60}]}, {}, "rack-circuits"),
        ({"circuits": [{"volts": 415, "amps": 60, "count": 2}]}, {}, None),
        ({"circuits": [{"volts": 415, "amps": 60, "count": 2}], "redundant_feeds": True}, {}, "rack-circuits"),
        ({"circuits": [{"volts": 415, "amps": 400}], "redundant_feeds": True}, {}, "rack-circuits"),
        ({"circuits": [{"volts": 400, "amps": 63, "count": 4}], "redundant_feeds": True}, {}, None),
        ({"circuits": [{"volts": 400, "amps": 37, "count": 2}]}, {}, "rack-circuits"),
        ({"circuits": [{"volts": 400, "amps": 37, "count": 2}]}, {"power_factor": 1}, None),
        ({}, {"cooling": "40kW"}, "room-cooling"),
        ({}, {"cooling": "40.8kW"}, None),
        ({}, {"ups": {"power": "40kW"}}, "ups-too-small"),
        ({}, {"ups": {"power": "41kW", "apparent": 42000}}, "ups-too-small"),
        ({}, {"ups": {"power": "50kW", "apparent": 42000}}, "value-out-of-range"),
        ({}, {"ups": {"power": "50kW", "minutes": 8, "required_minutes": 10}}, "ups-too-small"),
        ({}, {"ups": {"power": "50kW", "apparent": 50000, "minutes": 8, "required_minutes": 9.8}}, None),
    ],
)
def test_limits(rack, facility, code, tmp_path):
    assert codes_of(_room(rack=rack, facility=facility), tmp_path) == ([code] if code else [])


def test_unknown_power_is_named(tmp_path):
    load = room_load(cluster_of(tmp_path))
    assert load.without_power == load.without_weight == ("head",)
