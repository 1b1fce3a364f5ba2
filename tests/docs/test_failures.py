"""docs/failures.md names every alert, and every service that the trees run."""

from __future__ import annotations

import re

import pytest
import yaml

from strategies.failures import ROWS, alerts, named, tables
from strategies.inventories import MANIFESTS, texts
from strategies.pages import ROOT

pytestmark = pytest.mark.slow


def test_the_page_has_todays_alerts() -> None:
    text = (ROOT / "docs/failures.md").read_text(encoding="utf-8")
    assert tables(text) == text, "run tools/update-docs docs/failures.md"
    assert re.findall(r"<!-- failures: (.*) -->", text) == list(ROWS)


def test_every_alert_has_a_row_and_every_row_an_alert_or_a_reason() -> None:
    outcomes = [outcome for rows in ROWS.values() for _, outcome in rows]
    assert {name for outcome in outcomes for name in named(outcome)} == set(alerts())
    assert [outcome for outcome in outcomes if not named(outcome) and not outcome.startswith("none: ")] == []


@pytest.mark.many
@pytest.mark.parametrize("example", MANIFESTS)
def test_every_service_of_a_tree_has_a_row(example: str) -> None:
    listed = set(re.findall(r"[\w-]+\.service", " ".join(part for part, _ in ROWS["services"])))
    variables = yaml.safe_load(texts(example)["inventory/group_vars/all.yml"])
    units = {unit for units in variables["cluster_units"].values() for unit in units}
    ours = {unit for unit in units if unit.startswith("clustergen-")}  # one-shot units: NodeUnitFailed
    missing = {unit for unit in units - ours if unit.endswith(".service")} - listed
    assert missing == set()
    (arguments,) = {text for path, text in texts(example).items() if path.endswith("default/prometheus-node-exporter")}
    (included,) = re.findall(r"--collector.systemd.unit-include=(\S+)", arguments)
    read = {unit for unit in units if unit.endswith((".service", ".timer"))}
    assert [unit for unit in sorted(read) if not re.fullmatch(included, unit)] == []
