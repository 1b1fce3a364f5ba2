"""facility/README.md, the page for buyers and technicians."""

from __future__ import annotations

from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.features.facility.questions import questions
from clustergen.features.facility.readme import facility_readme
from facility.test_cables import superpod
from facility.test_outlets import room
from features.facility.test_bom import spread_superpod
from strategies.findings import TINY, changed
from strategies.trees import cluster_of, manifest, tree_of


def page_of(data: dict[str, Any], directory: Any) -> str:
    return tree_of(data, directory).files["facility/README.md"].content.decode()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    data = spread_superpod()
    data["racks"]["a[01-16]"] |= {"circuits": [{"volts": 415, "amps": 63, "count": 4}], "redundant_feeds": True}
    data["facility"] |= {
        "ups": {"power": "2MW", "apparent": 2_200_000, "minutes": 10, "required_minutes": 12},
        "cooling": "2MW",
        "estimates": {"all_reduce": ["16GiB"], "checkpoint": "10TB"},
        "prices": {"currency": "USD", "items": {"dgx-h100": 300_000}, "budget": 40_000_000},
    }
    data["storage"] = {
        "work": {"type": "nfs", "server": "10.0.0.9", "path": "/work", "mount": "/work", "bandwidth": "40GB/s"}
    }
    return page_of(data, tmp_path_factory.mktemp("page"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        "| Power | 1,378.0 kW, 1,450.5 kVA |",
        "| Heat | 1,378.0 kW, 4,701,600 BTU/h, the room removes 2MW |",
        "| UPS run time | 14.5 min, required 12 min |",
        # Four DGX H100: 40.8 kW, 522 kg, 4 x 1105 CFM as printed by the maker.
        "| 32 of 48 U | 40.8 kW | 139,210 BTU/h | 4,420 CFM | 522 kg |  |",
        # 415 V 63 A: 45.28 kVA, 36.23 at 80 %; 10.2 kW are 10.7 kVA.
        "| A1,B1,A2,B2 | 415 V, 63 A, 3 phases, 45.3 kVA | 240 V | 36.2 kVA (80%) | 10.2 kW | 14.9 A | 30% | 59% |",
        "| fabric | `leaf01-r[0-7]` | `qm9700` | 64 | 31 | 32 | 1 | 8 |",
        "| 203.2 Tb/s, 25,400 GB/s | 1:1, non-blocking |",
        "| work | 40GB/s | 10TB | 4.2 min |",
        "| for each GPU | 37,500.00 |",
    ],
)
def test_rows(page, row):
    assert row.replace("`", "") in page.replace("`", "")


@pytest.mark.parametrize(("power", "is_marked"), [("", True), (", power: {max: 9kW}, rack_units: 8", False)])
def test_figures_that_no_source_confirms_are_marked(tmp_path, power, is_marked):
    (tmp_path / "manifest.yaml").write_text(
        changed(TINY, ("{system: dgx-h100}", f"{{system: hgx-b200-8{power}}}"))
        + 'racks: {r1: {nodes: "gpu[1-4]", units: 42, power: 90kW}}\n'
    )
    tree = compiler.render(compiler.validate(tmp_path / "manifest.yaml"), tmp_path / "manifest.yaml")[0]
    pages = {name: tree.files[name].content.decode() for name in ("README.md", "facility/README.md")}
    watts, units = ("58.0 kW ?", "40 ? of 42 U") if is_marked else ("36.0 kW", "32 of 42 U")
    assert f"| {watts} | 90kW |" in pages["README.md"]
    assert f"| {units} | {watts} | 90kW |" in pages["facility/README.md"]
    for page in pages.values():
        assert ("Figures with ? are not confirmed" in page) is is_marked
    picture = tree.files["facility/racks.svg"].content.decode()
    assert ("14.5 kW ?" in picture, "?: not confirmed by any source" in picture) == (is_marked, is_marked)


def test_open_questions_are_a_checklist(tmp_path):
    text = page_of(superpod(), tmp_path)
    assert "- [ ] **1 machine of type service**: Which model? Weight, depth, maximum power and power inlets?" in text
    assert "- [ ] **All racks**: The feeds are not stated." in text


def test_a_manifest_without_racks_and_switches_has_no_page(tmp_path):
    assert not [path for path in tree_of(manifest(), tmp_path).files if path.startswith("facility/")]


def test_supplies_that_one_side_cannot_replace_are_a_question(tmp_path: Any) -> None:
    feed = {"volts": 415, "amps": 60, "count": 2}
    cluster = room(tmp_path, circuits=[feed], redundant_feeds=True)
    words = dict(questions(cluster))["c[1-2]"]
    assert words == "With one side off, a NVIDIA DGX H100 keeps 3 supplies and needs 4 for full load. May it slow down?"
    assert "c[1-2]" not in dict(questions(room(tmp_path, circuits=[feed])))


def test_the_power_of_the_facility_is_pue_times_that_of_the_devices(tmp_path: Any) -> None:
    data = manifest(node_types={"gpu": {"system": "dgx-h100"}})
    data["nodes"][1] |= {"name": "c[1-2]", "address": "10.0.0.[11-12]"}
    data["facility"] = {"pue": 1.3}
    page = facility_readme(cluster_of(data, tmp_path))
    assert page is not None
    assert ("Whole facility", "26.5 kW at the stated PUE of 1.3") in page.tables[0].rows  # 2 x 10.2 kW x 1.3
