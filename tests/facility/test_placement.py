"""Racks that are sold whole: their switch trays and power shelves have units, and trays their slots."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from clustergen.facility.placement import devices, fixtures
from clustergen.features.facility.device_types import device_types
from clustergen.features.facility.elevations import elevations
from clustergen.features.facility.tables import devices_csv
from strategies.trees import HEAD, manifest

SYSTEM = "dgx-gb200"


def racks(directory: Path, trays: int, more: dict[str, Any] | None = None, **rack: Any) -> tuple[Cluster, set[str]]:
    """A rack r1 with compute trays, and the codes that validate reports but for unconfirmed hardware."""
    nodes = {"name": f"t[01-{trays:02}]", "type": "tray", "address": f"10.0.0.[11-{10 + trays}]"}
    data = manifest(
        node_types={"tray": {"system": SYSTEM}},
        nodes=[HEAD, nodes],
        racks={"r1": {"nodes": f"t[01-{trays:02}]", "units": 48, **rack}, **(more or {})},
    )
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.cluster is not None
    codes = {diagnostic.code for diagnostic in compiled.diagnostics if diagnostic.code.startswith("rack-")}
    return compiled.cluster, codes


def units(cluster: Cluster, rack: str = "r1") -> dict[int, str]:
    placed = {device.place.unit: name for name, device in devices(cluster).items() if device.place}
    parts = {part.place.unit: part.kind for part in fixtures(cluster)[rack] if part.place}
    assert not set(placed) & set(parts)
    return placed | parts


def test_a_full_rack_has_shelves_outside_and_switches_amid_the_trays(tmp_path: Path) -> None:
    cluster, codes = racks(tmp_path, 18)
    assert not codes
    occupied = units(cluster)
    assert {unit for unit, what in occupied.items() if what == "shelf"} == {*range(1, 5), *range(32, 36)}
    assert {unit for unit, what in occupied.items() if what == "switch"} == set(range(13, 22))
    assert [occupied[unit] for unit in (5, 12, 22, 31)] == ["t01", "t08", "t09", "t18"]
    names = [part.name for part in fixtures(cluster)["r1"]]
    assert names[:5] == [*(f"r1-shelf{number}" for number in range(1, 5)), "r1-nvlink1"]
    (picture,) = elevations(cluster).values()
    assert len(picture.racks[0].boxes) == 35
    assert [text.text for text in picture.racks[0].head] == ["r1", "132 kW"]
    assert "13 U free" in {text.text for text in picture.racks[0].foot}
    table = devices_csv(cluster)
    assert table is not None
    roles = Counter(line.split(",")[1] for line in str(table.text).splitlines())
    assert (roles["nvlink-switch"], roles["power-shelf"], roles["slurm-compute"]) == (9, 8, 18)
    assert {part.name for part in fixtures(cluster)["r1"]} <= device_types(cluster).keys()


@pytest.mark.parametrize(
    ("rack", "first", "shelf"),
    [
        ({"places": {"t01": 7}}, 7, 1),  # a slot of the rack that starts at unit 1
        ({"places": {"t01": 44}}, 44, 14),  # only of one that starts higher up
        ({"places": {"t[01-18]": 1}}, 1, 19),  # not the order of the catalogue: parts go where there is room
    ],
)
def test_a_stated_place_moves_the_rest(tmp_path: Path, rack: dict[str, Any], first: int, shelf: int) -> None:
    cluster, codes = racks(tmp_path, 18, **rack)
    assert not codes
    occupied = units(cluster)
    assert len(occupied) == 35
    assert occupied[first] == "t01"
    assert min(unit for unit, what in occupied.items() if what == "shelf") == shelf


def test_empty_slots_take_nothing_else(tmp_path: Path) -> None:
    cluster, _ = racks(tmp_path, 4, nodes="t[01-04],head")
    place = devices(cluster)["head"].place
    assert place is not None
    assert place.unit == 36


def test_a_rack_that_is_too_low_is_reported_with_what_it_lacks(tmp_path: Path) -> None:
    cluster, codes = racks(tmp_path, 18, units=34)
    assert codes == {"rack-too-low"}
    (picture,) = elevations(cluster).values()
    assert len(picture.racks[0].boxes) == 34
    homeless = [text.text for text in picture.racks[0].foot if text.kind == "over"]
    assert homeless == ["no room for: t18 (1 U)"]


def test_trays_of_two_racks_in_one_have_the_parts_of_both(tmp_path: Path) -> None:
    cluster, codes = racks(tmp_path, 36, units=60)
    assert codes == {"rack-too-low"}
    assert len(fixtures(cluster)["r1"]) == 34


def test_other_racks_have_none(tmp_path: Path) -> None:
    cluster, _ = racks(tmp_path, 18, {"r2": {"nodes": "head"}})
    assert set(fixtures(cluster)) == {"r1"}
