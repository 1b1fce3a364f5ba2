"""Grafana's files. Grafana cannot be installed for it: Python reads their form, Prometheus' own parser the queries."""

from __future__ import annotations

import configparser
import json
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from clustergen.verify.check import Check, Question, Reader, Trial, paths
from clustergen.verify.daemon import VERSION, refused
from clustergen.verify.files import Entry
from clustergen.verify.programs import Answer
from clustergen.verify.rows import Row
from clustergen.verify.well_formed import read_by

_COLUMNS = 24
_RULES = "/srv/dashboards/queries.yml"
_RANGES = {"$__rate_interval": "5m", "$__range_s": "3600", "$__range": "1h"}
_REQUIRED = ("panels", "schemaVersion", "title", "uid")


def _ini(entry: Entry) -> Iterator[str]:
    try:
        configparser.RawConfigParser(strict=True).read_string(entry.text)
    except configparser.Error as err:
        yield " ".join(str(err).split())


def _provisioning(entry: Entry) -> Iterator[str]:
    try:
        document = yaml.safe_load(entry.content)
    except yaml.YAMLError as err:
        yield " ".join(str(err).split())
        return
    if not isinstance(document, dict) or document.get("apiVersion") != 1:
        yield "apiVersion is not 1"


def _form(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    complaints, uids, panels = [], set(), 0
    for entry in entries:
        page = _page(entry)
        if page is None or any(key not in page for key in _REQUIRED):
            complaints.append(f"{entry.path}: not a dashboard with {', '.join(_REQUIRED)}")
            continue
        if page["uid"] in uids:
            complaints.append(f"{entry.path}: uid {page['uid']} is in another file as well")
        uids.add(page["uid"])
        complaints += [f"{entry.path}: {problem}" for problem in _grid(page["panels"])]
        panels += len(page["panels"])
    notes = [f"{len(entries)} dashboards, {panels} panels and rows"]
    yield check.judged(entries, complaints, notes, platform.python_version())


def _page(entry: Entry) -> dict[str, Any] | None:
    try:
        page = json.loads(entry.content)
    except ValueError:
        return None
    return page if isinstance(page, dict) else None


def _grid(panels: list[dict[str, Any]]) -> Iterator[str]:
    """Panels that are off the grid or cover each other; panels of one number."""
    cells: dict[tuple[int, int], str] = {}
    numbers = set()
    for panel in panels:
        place, title = panel["gridPos"], panel["title"]
        if panel["id"] in numbers:
            yield f"panel '{title}' has the id {panel['id']} of another"
        numbers.add(panel["id"])
        if place["x"] < 0 or place["x"] + place["w"] > _COLUMNS or min(place["w"], place["h"]) < 1:
            yield f"panel '{title}' is outside of the {_COLUMNS} columns"
            continue
        area = [
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        covered = next((cells[cell] for cell in area if cell in cells), None)
        if covered is not None:
            yield f"panel '{title}' covers '{covered}'"
        cells |= dict.fromkeys(area, title)


def queries(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(panel, expression) of each query, with values in place of Grafana's variables."""
    asked = [(panel["title"], target["expr"]) for panel in page["panels"] for target in panel.get("targets", ())]
    asked += [(mark["name"], mark["expr"]) for mark in page.get("annotations", {}).get("list", ())]
    for title, expr in asked:
        for variable, text in _RANGES.items():
            expr = expr.replace(variable, text)
        yield title, re.sub(r"\$\w+", "x", expr)


def _as_rules(question: Question, directory: Path) -> Iterable[tuple[Path, str]]:
    """The queries as recording rules, which promtool parses."""
    rules = []
    for entry in question.entries:
        page = _page(entry) or {"panels": []}
        for number, (title, expr) in enumerate(queries(page)):
            labels = {"page": entry.path, "panel": title, "number": str(number)}
            rules.append({"record": "panel:query:any", "expr": expr, "labels": labels})
    directory.mkdir(parents=True, exist_ok=True)
    document = {"groups": [{"name": "dashboards", "rules": rules}]}
    (directory / Path(_RULES).name).write_text(yaml.safe_dump(document), encoding="utf-8")
    return [(directory, str(Path(_RULES).parent))]


def _counted(answer: Answer, _question: Question) -> Iterator[str]:
    if match := re.search(r"(\d+) rules found", answer.out):
        yield f"{match[1]} queries"


_DASHBOARDS = "/etc/grafana/dashboards/*.json"

COMPONENT = "monitoring"
CHECKS = (
    Check(
        name="grafana settings",
        what="Grafana: settings",
        parser="Python's configparser",
        proves="Well-formed INI, no section or key twice. Grafana itself has never read its files: Debian, PyPI and"
        " npm do not have it, and its licence (AGPL) rules out a copy in this repository.",
        reads=paths("/etc/grafana/grafana.ini"),
        ask=read_by(platform.python_version(), _ini),
    ),
    Check(
        name="grafana provisioning",
        what="Grafana: data sources, folders, contact points",
        parser="PyYAML",
        proves="Well-formed YAML of provisioning format 1. Grafana is not run.",
        reads=paths("/etc/grafana/provisioning/*"),
        ask=read_by(yaml.__version__, _provisioning),
    ),
    Check(
        name="dashboards",
        what="Grafana: dashboards",
        parser="Python's json",
        proves="Well-formed JSON; every panel has an id of its own and a place on the grid that no other covers."
        " Grafana is not run; tests pass every kind of panel through the types of its SDK for Python without loss.",
        reads=paths(_DASHBOARDS),
        ask=_form,
    ),
    Check(
        name="queries",
        what="Grafana: queries of the dashboards",
        parser="promtool check rules",
        proves="Prometheus' parser accepts the query of each panel and annotation. Tests ask a real Prometheus each of"
        " them and get data, for two clusters.",
        reads=paths(_DASHBOARDS),
        ask=Reader(
            "promtool", VERSION, f'"$program" check rules {_RULES}', refused, _counted, stand_ins=_as_rules, whole=True
        ),
    ),
)  # fmt: skip
