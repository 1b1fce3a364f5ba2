"""The refresh plan: dates of deliveries, what leaves first, and `clustergen facility refresh` on a day."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.features.facility.refresh import refresh_plan
from strategies.trees import cluster_of, codes_of, manifest, tree_of

DELIVERIES = {
    "first": {"types": ["gpu"], "bought": "2022-02-28", "warranty": 5},
    "second": {"devices": "c4", "bought": "2024-02-29", "warranty": 3, "life": 5.5},
    "network": {"devices": "leaf1", "bought": "2020-06-01"},
}


def fleet(**deliveries: Any) -> dict[str, Any]:
    data = manifest(facility={"deliveries": deliveries or DELIVERIES}, racks={"r1": {"nodes": "c[1-4]"}})
    data["networks"]["fabric"] = {
        "type": "infiniband", "rate": "NDR",
        "switches": [{"name": "leaf1", "model": "qm9700", "nodes": "c[1-4]", "rack": "r1"}],
    }  # fmt: skip
    return data


def test_the_first_to_leave_is_first(tmp_path: Path) -> None:
    plan = refresh_plan(cluster_of(fleet(), tmp_path))
    assert [(one.delivery, one.devices) for one in plan] == [
        ("first", ("c1", "c2", "c3")), ("second", ("c4",)), ("network", ("leaf1",)), ("", ("head",)),
    ]  # fmt: skip
    assert [one.leaves for one in plan] == [date(2027, 2, 28), date(2029, 8, 29), None, None]
    assert [one.warranty_until for one in plan] == [date(2027, 2, 28), date(2027, 2, 28), None, None]
    assert plan[0].age_years(date(2027, 2, 28)) == pytest.approx(5, abs=0.01)


@pytest.mark.slow
def test_the_report_has_dates_and_no_ages(tmp_path: Path) -> None:
    page = tree_of(fleet(), tmp_path).files["facility/README.md"].content.decode()
    assert "| 1 | first | `c[1-3]` | gpu | 2022-02-28 | 2027-02-28 | 2027-02-28 |" in page
    assert "|  | network | `leaf1` | MQM9700 | 2020-06-01 |  | not planned |" in page


def run(directory: Path, data: dict[str, Any], *options: str) -> Result:
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    return CliRunner().invoke(group, ["facility", "refresh", str(path), *options])


@pytest.mark.parametrize(("day", "code", "state"), [("2027-02-27", 0, "in use"), ("2027-02-28", 1, "due")])
def test_the_exit_code_says_whether_devices_are_due(day: str, code: int, state: str, tmp_path: Path) -> None:
    done = run(tmp_path, fleet(), "--on", day)
    assert done.exit_code == code, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("c[1-3]"))
    assert row.split("  ")[-1].strip() == state
    rows = {
        one["delivery"]: one
        for one in json.loads(run(tmp_path, fleet(), "--on", day, "--format", "json").stdout)["deliveries"]
    }
    assert rows["first"]["state"] == state
    assert rows["second"]["state"] == "in use"
    assert rows[None]["state"] == "no date"


def test_without_warranty(tmp_path: Path) -> None:
    rows = json.loads(run(tmp_path, fleet(), "--on", "2028-01-01", "--format", "json").stdout)["deliveries"]
    assert [row["state"] for row in rows] == ["due", "no warranty", "in use", "no date"]


@pytest.mark.parametrize(
    ("data", "options"), [(manifest(), ()), (fleet(), ("--on", "2027-2-30"))], ids=["no deliveries", "no day"]
)
def test_wrong_use(data: dict[str, Any], options: tuple[str, ...], tmp_path: Path) -> None:
    assert run(tmp_path, data, *options).exit_code == 2


@pytest.mark.parametrize(
    ("deliveries", "codes"),
    [
        ({"a": {"types": ["gpu"], "bought": "2023-02-29"}}, ["delivery-date"]),
        ({"a": {"types": ["gpo"], "bought": "2023-02-28"}}, ["delivery-device-unknown"]),
        ({"a": {"devices": "c[4-5]", "bought": "2023-02-28"}}, ["delivery-device-unknown"]),
        ({name: {"devices": "c4", "bought": "2023-02-28"} for name in "ab"}, ["delivery-twice"]),
    ],
)
def test_mistakes(deliveries: dict[str, Any], codes: list[str], tmp_path: Path) -> None:
    assert [code for code in codes_of(fleet(**deliveries), tmp_path) if code.startswith("delivery")] == codes


def test_a_mistake_in_a_list_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    text = json.dumps(fleet(**{name: {"types": ["gpu", "gpo"], "bought": "2023-02-28"} for name in "ab"}))
    path.write_text(text, encoding="utf-8")
    places = [one.place for one in compiler.validate(path).diagnostics if one.code.startswith("delivery")]
    assert [text[at.column - 1 : at.end_column - 1].strip('"') for at in places if at] == ["gpo", "gpu", "gpo"]
