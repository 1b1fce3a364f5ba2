"""Loops of coolant: heat by liquid and by air, flow, CDUs, pumps and chillers with spare ones; air; depth of racks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.facility import cdus, flow_l_per_minute, rack_systems
from clustergen.cluster.model import Cluster
from clustergen.facility.cooling import loop_loads
from clustergen.facility.power import room_load
from strategies.trees import cluster_of, codes_of, manifest, tree_of

ROOM = {"r1": {"nodes": "c[1-2]"}, "r2": {"nodes": "c[3-4]"}}


def room(loop: dict[str, Any] | None = None, racks: dict[str, Any] | None = None, **facility: Any) -> dict[str, Any]:
    """Four DGX H100 (10.2 kW each) in two racks."""
    loops = {"direct": {"racks": "r[1-2]", **loop}} if loop is not None else {}
    return manifest(
        node_types={"gpu": {"system": "dgx-h100"}}, racks=racks or ROOM, facility={"loops": loops, **facility}
    )


def nvl72(loop: dict[str, Any], system: str = "gb200-nvl72-tray") -> dict[str, Any]:
    data = manifest(node_types={"gpu": {"system": system}}, facility={"loops": {"direct": {"racks": "r[1-8]", **loop}}})
    data["nodes"][1] |= {"name": "c[1-144]", "address": "10.0.0.[11-154]"}
    data["racks"] = {"r[1-8]": {"nodes": "c[1-144]", "units": 52}}
    return data


def load_of(data: dict[str, Any], directory: Path) -> Any:
    (one,) = loop_loads(cluster_of(data, directory))
    return one


# Litres a minute that carry 100 kW away with 10 K: 60 s / (specific heat x density), from tables of both coolants.
@pytest.mark.parametrize(
    ("coolant", "kj_per_kg_k", "kg_per_l"), [("water", 4.186, 1.0), ("pg25", 3.94, 1.0192), ("pg25", 3.96, 1.0143)]
)
def test_flow_follows_from_heat_capacity(coolant: str, kj_per_kg_k: float, kg_per_l: float) -> None:
    assert flow_l_per_minute(coolant, 100_000, 10) == pytest.approx(60 * 10 / kj_per_kg_k / kg_per_l, rel=0.005)


def test_the_flow_of_a_published_rack() -> None:
    """MGX racks of 120 kW, of which 85 % leave by liquid, are planned with 130 L/min: a difference of 11 to 12 K."""
    rack = rack_systems()["gb200-nvl72-rack"]
    watts = 120_000 * rack.liquid_share_pct / 100
    assert flow_l_per_minute("water", watts, 12) < 130 < flow_l_per_minute("pg25", watts, 11)


@pytest.mark.parametrize(
    ("system", "cdu"), [("gb200-nvl72-tray", "hpe-in-row-1300kw"), ("gb300-nvl72-tray", "supermicro-in-row-1800kw")]
)
def test_an_in_row_unit_serves_eight_racks_as_its_maker_plans(system: str, cdu: str, tmp_path: Path) -> None:
    one = load_of(nvl72({"cdus": {"model": cdu}}, system), tmp_path)
    assert len(one.racks) == cdus()[cdu].racks
    assert (one.cdus.needed, one.cdus.total) == (1, 2), "with one that may fail"


def test_a_stated_share_holds_for_whole_racks_too(tmp_path: Path) -> None:
    cdus_of = {"cdus": {"capacity": "1.3MW"}}
    assert load_of(nvl72(cdus_of), tmp_path).liquid_w == pytest.approx(8 * 132_000 * 0.85)
    assert load_of(nvl72({**cdus_of, "share": "100%"}), tmp_path).air_w == pytest.approx(0)


def test_heat_is_divided_between_liquid_and_air(tmp_path: Path) -> None:
    one = load_of(room({"share": "70%", "rise": 10, "cdus": {"capacity": "20kW"}}), tmp_path)
    assert (one.liquid_w, one.air_w) == (pytest.approx(0.7 * 40_800), pytest.approx(0.3 * 40_800))
    assert one.flow_l_per_minute == pytest.approx(14.3 * 28.56 / 10)
    assert (one.cdus.needed, one.cdus.total, one.cdus.working) == (2, 3, 2)
    assert all(rack.load.air_cfm == pytest.approx(150 * 0.3 * 20.4) for rack in one.racks)


def test_the_flow_of_pumps_may_need_more_units_than_the_heat(tmp_path: Path) -> None:
    """408 L/min are five units of 100 L/min, one of whose two pumps may fail; the heat needs one."""
    units = {"capacity": "100kW", "pumps": 2, "pump_flow": 100}
    one = load_of(room({"share": "70%", "rise": 1, "cdus": units}), tmp_path)
    assert (one.cdus.needed, one.cdus.total) == (5, 6)


LOOP = {"share": "70%", "cdus": {"capacity": "40kW"}}


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (room(LOOP), []),
        (room({"share": "70%"}), ["loop-without-capacity"]),
        (room({**LOOP, "chillers": {}}), ["loop-without-capacity"]),
        (room({"cdus": {"capacity": "40kW"}}), ["loop-without-heat"]),
        (room({**LOOP, "cdus": {"capacity": "40kW", "count": 2}}), []),
        (room({**LOOP, "cdus": {"capacity": "40kW", "count": 1}}), ["loop-too-small"]),
        (room({**LOOP, "cdus": {"capacity": "40kW", "count": 1, "spare": 0}}), []),
        (room({**LOOP, "chillers": {"capacity": "28kW", "count": 2}}), ["loop-too-small"]),
        (room({**LOOP, "chillers": {"capacity": "29kW", "count": 2}}), []),
        (room({**LOOP, "cdus": {"model": "hpe-in-row"}}), ["cdu-unknown"]),
        (room({**LOOP, "rise": 10, "cdus": {"capacity": "40kW", "pumps": 1, "pump_flow": 60}}), ["loop-pumps"]),
        (room({**LOOP, "cdus": {"capacity": "40kW", "pumps": 2, "pump_flow": 60}}), ["loop-pumps"]),
        (room({**LOOP, "cdus": {"capacity": "40kW", "pump_flow": 60}}), ["loop-pumps"]),
        (room({**LOOP, "racks": "r[2-3]"}), ["rack-unknown"]),
        (nvl72({"racks": "r[1-7]", "cdus": {"capacity": "1MW"}}), ["rack-without-loop"]),
        # Of 20.4 kW a rack, 6.1 kW do not leave by the loop, and of 40.8 kW 12.2 kW.
        (room(LOOP, {"r1": {"nodes": "c[1-2]", "cooling": "7kW"}, "r2": {"nodes": "c[3-4]"}}, cooling="13kW"), []),
        (room(LOOP, {"r1": {"nodes": "c[1-2]", "cooling": "6kW"}, "r2": {"nodes": "c[3-4]"}}), ["rack-cooling"]),
        (room(LOOP, cooling="12kW"), ["room-cooling"]),
        # A DGX H100 needs 1105 CFM.
        (room(racks={"r1": {"nodes": "c[1-4]", "airflow": 4420}}), []),
        (room(racks={"r1": {"nodes": "c[1-4]", "airflow": 4419}}), ["rack-airflow"]),
        (room(racks={"r1": {"nodes": "c[1-4]", "row": "a"}}, airflow={"a": 4419}), ["rack-airflow"]),
        (room(racks={"r1": {"nodes": "c[1-4]", "row": "a"}}, airflow={"a": 4420}), []),
        (room(airflow={"a": 4420}), ["row-unknown"]),
        # It is 897 mm deep, and 150 mm are planned behind it.
        (room(racks={"r1": {"nodes": "c[1-4]", "depth": 1047}}), []),
        (room(racks={"r1": {"nodes": "c[1-4]", "depth": 1046}}), ["rack-depth-tight"]),
        (room(racks={"r1": {"nodes": "c[1-4]", "depth": 896}}), ["rack-too-shallow"]),
    ],
)  # fmt: skip
def test_missing_capacity_of_a_room_is_reported(data: dict[str, Any], codes: list[str], tmp_path: Path) -> None:
    ours = ("loop", "cdu", "rack", "row", "room")
    assert [code for code in codes_of(data, tmp_path) if code.startswith(ours)] == codes


def test_a_node_type_states_its_depth(tmp_path: Path) -> None:
    data = manifest(racks={"r1": {"nodes": "c[1-4]", "depth": 1000}})
    data["node_types"]["gpu"]["depth"] = 900
    assert "rack-depth-tight" in codes_of(data, tmp_path)


@pytest.mark.parametrize(
    ("series", "codes"),
    [
        ("cduSupply", []),
        ('cduSupply{instance="cdu-a", side=~"[ab]"}', []),
        ('cduSupply{instance="cdu-a"', ["text-malformed"]),
        ('cduSupply{} > 1 or vector(1)', ["text-malformed"]),
        ('cduSupply{instance=~"cdu-("}', ["coolant-limits"]),
        ('cduSupply{instance=~"(?!x)cdu.*"}', ["coolant-limits"]),
        ('cduSupply{instance=~"(?i)cdu-(?:a|b)"}', []),
        ("ipmi_temperature_celsius", ["coolant-unread"]),
    ],
)  # fmt: skip
def test_a_series_is_one_metric_that_something_reads(series: str, codes: list[str], tmp_path: Path) -> None:
    data = room({**LOOP, "sensors": {"inlet": {"series": series, "high": 45}}})
    data["nodes"].append({"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]})
    ours = {"text-malformed", "coolant-limits", "coolant-unread"}
    assert [code for code in codes_of(data, tmp_path) if code in ours] == codes


@pytest.mark.parametrize("units", ["cdus", "chillers"])
def test_units_that_remove_no_heat_are_refused(units: str, tmp_path: Path) -> None:
    assert codes_of(room({**LOOP, units: {"capacity": "0kW"}}), tmp_path) == ["value-out-of-range"]


def test_sensors_need_monitoring(tmp_path: Path) -> None:
    data = room({**LOOP, "sensors": {"inlet": {"series": "cduSupply", "high": 45}}})
    assert "coolant-unread" in codes_of(data, tmp_path)


@pytest.mark.slow
def test_report_and_bill_have_the_units_of_a_loop(tmp_path: Path) -> None:
    units = {"capacity": "20kW", "pumps": 2, "pump_flow": 30}
    loop = {"share": "70%", "rise": 10, "coolant": "pg25", "cdus": units, "chillers": {"capacity": "50kW"}}
    files = tree_of(room(loop, airflow={}), tmp_path).files
    page, bill = (files[f"facility/{name}"].content.decode() for name in ("README.md", "bom.csv"))
    row = "| 28.6 kW | 12.2 kW | 25 % propylene glycol | 10 K | 43 L/min | 3 × 20kW: 2 needed, 1 spare |"
    assert row in page
    assert "| 2 × 50kW: 1 needed, 1 spare |" in page
    assert "\ncdu,cdu-direct,coolant distribution unit of 20kW,,,,3,0,3," in bill
    assert "\nchiller,chiller-direct,chiller of 50kW,,,,2,0,2," in bill


def test_a_loop_leaves_the_power_of_the_room_as_it_is(tmp_path: Path) -> None:
    def of(data: dict[str, Any]) -> Cluster:
        return cluster_of(data, tmp_path)

    assert room_load(of(room(LOOP))).watts == room_load(of(room())).watts == 40_800
