"""Grafana's own types for Python read every dashboard and lose nothing: an unknown key would not come back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from strategies.inventories import MANIFESTS, paths, texts

DASHBOARDS = "overlays/monitoring/etc/grafana/dashboards/"
PAGES = [(name, path) for name in MANIFESTS for path in paths(name) if path.startswith(DASHBOARDS)]
OF_THE_SOURCE = {
    "titleFormat"
}  # of marks: the data source of Prometheus reads it, and the types have marks of any source


def lost(page: Any, read: Any, place: str = "") -> Iterator[str]:
    if isinstance(page, dict) and isinstance(read, dict):
        for key, value in page.items():
            if key not in read:
                yield f"{place}/{key}"
            else:
                yield from lost(value, read[key], f"{place}/{key}")
    elif isinstance(page, list) and isinstance(read, list):
        if len(page) != len(read):
            yield place
        for number, (one, other) in enumerate(zip(page, read, strict=False)):
            yield from lost(one, other, f"{place}/{number}")
    elif page != read:
        yield f"{place}: {page!r} became {read!r}"


def through_types(page: dict[str, Any]) -> dict[str, Any]:
    register_default_plugins()
    result: dict[str, Any] = json.loads(JSONEncoder().encode(Dashboard.from_json(page)))
    return result


def problems(page: dict[str, Any]) -> list[str]:
    return [place for place in lost(page, through_types(page)) if place.rpartition("/")[2] not in OF_THE_SOURCE]


@pytest.mark.parametrize(("name", "path"), PAGES, ids=lambda part: part.removeprefix(DASHBOARDS).removesuffix(".json"))
def test_no_key_of_a_dashboard_is_lost(name: str, path: str) -> None:
    assert problems(json.loads(texts(name)[path])) == []


def test_every_example_has_dashboards() -> None:
    assert {name for name, _ in PAGES} == MANIFESTS.keys()


@pytest.mark.parametrize("key", ["gridPoss", "typ"])
def test_an_unknown_key_is_noticed(key: str) -> None:
    name, path = PAGES[0]
    page = json.loads(texts(name)[path])
    page["panels"][0][key] = 1
    assert problems(page) == [f"/panels/0/{key}"]


def test_a_dashboard_has_a_stable_uid_and_no_id() -> None:
    for name, path in PAGES:
        page = json.loads(texts(name)[path])
        assert page["uid"] == f"clustergen-{path.removeprefix(DASHBOARDS).removesuffix('.json')}"
        assert "id" not in page
        assert {target["datasource"]["uid"] for panel in page["panels"] for target in panel.get("targets", ())} == {
            "clustergen-prometheus"
        }
