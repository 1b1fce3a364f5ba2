"""The refresh plan on a day as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from clustergen.cli.facility_report import table
from clustergen.diagnostics import printable
from clustergen.diagnostics.document import json_document
from clustergen.features.facility.refresh import Due
from clustergen.hostlist import compress

_HEAD = ["devices", "delivery", "bought", "age", "warranty until", "leaves", "state"]


def shown(plan: Sequence[Due], day: date, form: str) -> str:
    if form == "json":
        return json_document({"on": str(day), "deliveries": [_data(one, day) for one in plan]})
    return table([_HEAD, *([*map(printable, _cells(one, day))] for one in plan)], form)


def _cells(one: Due, day: date) -> list[str]:
    age = one.age_years(day)
    dates = (str(value) if value else "-" for value in (one.bought, one.warranty_until, one.leaves))
    bought, warranty, leaves = dates
    years = f"{age:.1f} years" if age is not None else "-"
    return [compress(one.devices), one.delivery or "-", bought, years, warranty, leaves, _state(one, day)]


def _state(one: Due, day: date) -> str:
    if one.bought is None:
        return "no date"
    if one.leaves and one.leaves <= day:
        return "due"
    return "no warranty" if one.has_warranty(day) is False else "in use"


def _data(one: Due, day: date) -> dict[str, Any]:
    age = one.age_years(day)
    return {
        "delivery": one.delivery or None,
        "devices": list(one.devices),
        "bought": str(one.bought) if one.bought else None,
        "age_years": round(age, 2) if age is not None else None,
        "warranty_until": str(one.warranty_until) if one.warranty_until else None,
        "leaves": str(one.leaves) if one.leaves else None,
        "state": _state(one, day),
    }
