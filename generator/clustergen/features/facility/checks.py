"""Files about the machine room: tables for NetBox, which is not here, are held against one another."""

from __future__ import annotations

import csv
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import yaml

from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row
from clustergen.verify.well_formed import Ask

_Type = tuple[str, str]  # manufacturer and model


def _table(entries: Sequence[Entry], name: str) -> list[dict[str, str]]:
    entry = next((entry for entry in entries if entry.path == f"facility/{name}"), None)
    return list(csv.DictReader(entry.text.splitlines())) if entry else []


def _types(entries: Sequence[Entry]) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in entries:
        if entry.path.startswith("facility/device-types/"):
            document = yaml.safe_load(entry.content)
            yield entry.path, document if isinstance(document, dict) else {}


def _complaints(entries: Sequence[Entry]) -> Iterator[str]:
    ports: dict[_Type, set[str]] = {}
    for path, document in _types(entries):
        missing = {"manufacturer", "model", "slug", "u_height", "is_full_depth"} - document.keys()
        if missing:
            yield f"{path}: lacks {', '.join(sorted(missing))}"
            continue
        names = {port["name"] for port in document.get("interfaces", ())}
        ports[document["manufacturer"], document["model"]] = names
    racks = {row["name"] for row in _table(entries, "racks.csv")}
    kinds: dict[str, _Type] = {}
    for row in _table(entries, "devices.csv"):
        kinds[row["name"]] = (row["manufacturer"], row["device_type"])
        if kinds[row["name"]] not in ports:
            yield f"facility/devices.csv: {row['name']}: no device type {row['device_type']}"
        if row["rack"] and row["rack"] not in racks:
            yield f"facility/devices.csv: {row['name']}: no rack {row['rack']}"
    for row in _table(entries, "power-feeds.csv"):
        if row["rack"] not in racks:
            yield f"facility/power-feeds.csv: {row['name']}: no rack {row['rack']}"
    taken: set[tuple[str, str]] = set()
    for row in _table(entries, "cables.csv"):
        for end in ((row[f"side_{side}_device"], row[f"side_{side}_name"]) for side in "ab"):
            if end[0] not in kinds or end[1] not in ports.get(kinds[end[0]], ()):
                yield f"facility/cables.csv: {end[0]} has no port {end[1]}"
            elif end in taken:
                yield f"facility/cables.csv: port {end[1]} of {end[0]} has two cables"
            taken.add(end)


_SUMS = ("lines", "contingency", "tax", "total")
"""Rows of the bill below its lines."""


def _bill_complaints(entries: Sequence[Entry]) -> Iterator[str]:
    rows = _table(entries, "bom.csv")
    for number, row in enumerate(rows, 2):
        where = f"facility/bom.csv:{number}"
        if row["category"] in _SUMS:
            before = [one for one in rows[: number - 2] if one["category"] not in ("lines", "total")]
            for column in ("cost", "cost_high"):
                costs = sum(float(one[column] or one["cost"] or 0) for one in before)
                wrong = abs(costs - float(row[column] or row["cost"])) > 0.01 * len(rows)
                if row["category"] in ("lines", "total") and wrong:
                    yield f"{where}: the costs of the lines add up to {costs:.2f}"
            continue
        order = int(row["count"]) + int(row["spares"])
        if int(row["order"]) != order or order < 1:
            yield f"{where}: {row['count']} and {row['spares']} spares are not {row['order']}"
        if row["price"] and abs(float(row["price"]) * order - float(row["cost"])) > 0.005 * order + 0.01:
            yield f"{where}: {order} at {row['price']} do not cost {row['cost']}"


def _judged(complaints_of: Callable[[Sequence[Entry]], Iterator[str]], version: str) -> Ask:
    """Complaints of a function about the tables, one where it cannot read them."""

    def ask(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        try:
            complaints = list(complaints_of(entries))
        except (KeyError, TypeError, ValueError, csv.Error, yaml.YAMLError) as err:
            complaints = [" ".join(str(err).split())]
        yield check.judged(entries, complaints, (), version)

    return ask


CHECKS = (
    Check(
        name="bill",
        what="machine room: bill of materials",
        parser="Python's csv",
        proves="Counts and spares add up to the order, prices to the cost of each line and of all. No order system is"
        " run.",
        reads=paths("facility/bom.csv"),
        ask=_judged(_bill_complaints, platform.python_version()),
    ),
    Check(
        name="netbox",
        what="machine room: tables for NetBox",
        parser="Python's csv",
        proves="Every device has a device type, every rack exists, every cable ends in a port of its device that no"
        " other cable has. NetBox is not run: what it imports was compared with its forms and its library's schema by"
        " hand.",
        reads=paths(
            *("facility/cables.csv", "facility/devices.csv", "facility/racks.csv", "facility/power-feeds.csv"),
            "facility/device-types/*.yaml",
        ),
        ask=_judged(_complaints, f"{platform.python_version()}, PyYAML {yaml.__version__}"),
    ),
)
