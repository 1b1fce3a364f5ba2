"""Dashboards as Grafana's JSON, schema version 39 (Grafana 10 and newer): a stable uid, no id, stable bytes."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from clustergen.render.dashboards import PREFIX, Dashboard, Panel, Row, Step, Target, Variable
from clustergen.render.views.dashboards.exported import metrics_of
from clustergen.render.views.dashboards.layout import Place, placed

SCHEMA_VERSION = 39
MIN_COLUMN = 80  # pixels; Grafana's own minimum of 150 makes tables of numbers scroll
PROMETHEUS = "clustergen-prometheus"
ALERTMANAGER = "clustergen-alertmanager"
_SOURCE = {"type": "prometheus", "uid": PROMETHEUS}
_REFRESH_ON_TIME_RANGE = 2
_ANNOTATIONS = (  # name, expression, color, title
    (
        "Drained nodes",
        'clustergen_slurm_node_drained{state=~"drain.*"} unless clustergen_slurm_node_drained offset 2m',
        "orange",
        "{{node}} drained: {{reason}}",
    ),
    ("Reboots", "time() - node_boot_time_seconds < 120", "blue", "{{instance}} booted"),
    (
        "Applied changes",
        "count by (cluster) (time() - clustergen_apply_time_seconds < 120)",
        "purple",
        "{{cluster}}: the playbook changed nodes",
    ),
)


def encode(dashboard: Dashboard, others: tuple[Dashboard, ...], exported: frozenset[str]) -> str:
    """The file of one dashboard; `others` are in its menu; annotations are those whose metrics are `exported`."""
    panels = [
        _row(number, part, place) if isinstance(part, Row) else _panel(number, part, place)
        for number, (part, place) in enumerate(placed(dashboard), 1)
    ]
    document = {
        "annotations": {"list": [_annotation(*row) for row in marks(exported)]},
        "description": dashboard.purpose,
        "editable": False,
        "graphTooltip": 1,
        "links": [_menu(other) for other in others if other.slug != dashboard.slug],
        "panels": panels,
        "refresh": "1m",
        "schemaVersion": SCHEMA_VERSION,
        "tags": ["clustergen"],
        "templating": {"list": [_variable(variable) for variable in dashboard.variables]},
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "title": dashboard.title,
        "uid": dashboard.uid,
    }
    return to_json(_sorted(document), indent=1).decode() + "\n"  # ten times as fast as json


def _sorted(value: Any) -> Any:
    """The same with the keys of all mappings in order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(part) for part in value] if isinstance(value, list) else value


def marks(exported: frozenset[str]) -> list[tuple[str, str, str, str]]:
    """Marks on all graphs, where something exports what they read."""
    return [row for row in _ANNOTATIONS if metrics_of(row[1]) <= exported]


def _annotation(name: str, expr: str, color: str, title: str) -> dict[str, Any]:
    return {
        "datasource": _SOURCE,
        "enable": True,
        "expr": expr,
        "hide": False,
        "iconColor": color,
        "name": name,
        "titleFormat": title,
    }


def _menu(other: Dashboard) -> dict[str, Any]:
    return {
        "asDropdown": False,
        "icon": "external link",
        "includeVars": True,
        "keepTime": True,
        "tags": [],
        "targetBlank": False,
        "title": other.title,
        "tooltip": other.purpose,
        "type": "link",
        "url": f"/d/{other.uid}",
    }


def _variable(variable: Variable) -> dict[str, Any]:
    query = f"label_values({variable.series}, {variable.label})"
    return {
        "datasource": _SOURCE,
        "hide": 0,
        "includeAll": variable.has_all,
        "label": variable.title,
        "multi": True,
        "name": variable.name,
        "query": {"query": query, "refId": "StandardVariableQuery"},
        "refresh": _REFRESH_ON_TIME_RANGE,
        "sort": 7,
        "type": "query",
        **({"current": {"selected": True, "text": ["All"], "value": ["$__all"]}} if variable.has_all else {}),
    }


def _row(number: int, row: Row, place: Place) -> dict[str, Any]:
    return {"collapsed": False, "gridPos": _grid(place), "id": number, "panels": [], "title": row.title, "type": "row"}


def _grid(place: Place) -> dict[str, int]:
    return {"h": place.h, "w": place.w, "x": place.x, "y": place.y}


def _panel(number: int, panel: Panel, place: Place) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "description": panel.help,
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "gridPos": _grid(place),
        "id": number,
        "options": _OPTIONS[panel.kind] | (_LEGEND_BESIDE if panel.kind == "timeseries" and place.h <= _LOW else {}),
        "title": panel.title,
        "type": panel.kind,
    }
    encoded["datasource"] = _SOURCE
    encoded["targets"] = [_target(target, index, panel.kind) for index, target in enumerate(panel.targets)]
    if panel.kind == "table":
        encoded["fieldConfig"]["overrides"] = _columns(panel)
        encoded["transformations"] = _joined(panel)
        if panel.sort:
            encoded["options"] = encoded["options"] | {"sortBy": [{"desc": False, "displayName": panel.sort}]}
    return encoded


def ref(index: int) -> str:
    """A, B, …: how a panel names its queries."""
    return chr(ord("A") + index)


def _target(target: Target, index: int, kind: str) -> dict[str, Any]:
    instant = kind in ("table", "bargauge")
    return {
        "datasource": _SOURCE,
        "editorMode": "code",
        "expr": target.expr,
        "format": "table" if kind == "table" else "time_series",
        "instant": instant,
        "legendFormat": target.legend or "__auto",
        "range": not instant,
        "refId": ref(index),
    }


def _steps(steps: tuple[Step, ...]) -> dict[str, Any]:
    return {"mode": "absolute", "steps": [{"color": step.color, "value": step.value} for step in steps]}


def _defaults(panel: Panel) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit}
    if panel.empty:
        defaults["noValue"] = panel.empty
    if panel.words:
        defaults["mappings"] = _mappings(panel)
    if panel.steps:
        defaults["thresholds"] = _steps(panel.steps)
    if panel.minimum is not None:
        defaults["min"] = panel.minimum
    if panel.maximum is not None:
        defaults["max"] = panel.maximum
    if panel.kind in ("stat", "bargauge"):
        defaults["color"] = {"mode": "thresholds"}
        defaults.setdefault("thresholds", _steps((Step(None, "blue"),)))
    elif panel.kind == "timeseries":
        defaults["color"] = {"mode": "palette-classic"}
        defaults["custom"] = {
            "drawStyle": "line",
            "fillOpacity": 25 if panel.stacked else 8,
            "lineWidth": 1,
            "showPoints": "never",
            "spanNulls": False,
            "stacking": {"group": "A", "mode": "normal" if panel.stacked else "none"},
            "thresholdsStyle": {"mode": "dashed" if panel.steps else "off"},
        }
        defaults["links"] = [_link(label, slug) for label, slug in panel.links]
    else:
        defaults["custom"] = {"minWidth": MIN_COLUMN}
    return defaults


def _mappings(panel: Panel) -> list[dict[str, Any]]:
    options = {str(value): {"index": index, "text": word} for index, (value, word) in enumerate(panel.words)}
    return [{"type": "value", "options": options}]


def _link(label: str, slug: str) -> dict[str, Any]:
    value = f"${{__field.labels.{label}}}"
    variable = "instance" if label == "host" else label
    return {"title": f"Open {value}", "url": f"/d/{PREFIX}{slug}?var-{variable}={value}&${{__url_time_range}}"}


def _columns(panel: Panel) -> list[dict[str, Any]]:
    """The unit and the colors of each column of a table, and the links of its labels."""
    overrides: list[dict[str, Any]] = []
    for target in panel.targets:
        if not target.legend:
            continue
        properties: list[dict[str, Any]] = [{"id": "unit", "value": target.unit or panel.unit}]
        if target.steps:
            properties += [
                {"id": "thresholds", "value": _steps(target.steps)},
                {"id": "color", "value": {"mode": "thresholds"}},
                {"id": "custom.cellOptions", "value": {"mode": "basic", "type": "color-background"}},
            ]
        overrides.append({"matcher": {"id": "byName", "options": target.legend}, "properties": properties})
    for label, slug in panel.links:
        page = f"/d/{PREFIX}{slug}?var-{label}=${{__value.text}}&${{__url_time_range}}"
        url = slug + "${__value.text}" if "://" in slug else page
        link = {"id": "links", "value": [{"title": "Open ${__value.text}", "url": url}]}
        overrides.append({"matcher": {"id": "byName", "options": label}, "properties": [link]})
    return overrides


def _joined(panel: Panel) -> list[dict[str, Any]]:
    """One line per set of labels: a column per query, under its title."""
    values = [f"Value #{ref(index)}" if len(panel.targets) > 1 else "Value" for index in range(len(panel.targets))]
    columns = dict(zip(values, panel.targets, strict=True))
    hidden = {"Time": True} | {value: True for value, target in columns.items() if not target.legend}
    names = {value: target.legend for value, target in columns.items() if target.legend}
    organize = {"excludeByName": hidden, "indexByName": {}, "renameByName": names}
    return [{"id": "merge", "options": {}}, {"id": "organize", "options": organize}]


_LEGEND = {"calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "bottom", "showLegend": True}
_LEGEND_BESIDE = {"legend": _LEGEND | {"placement": "right"}}
_LOW = 4  # rows of the grid: with the legend below, little would be left for the graph
_REDUCED = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_OPTIONS: dict[str, dict[str, Any]] = {
    "stat": {
        "colorMode": "value",
        "graphMode": "area",
        "justifyMode": "auto",
        "orientation": "auto",
        "reduceOptions": _REDUCED,
        "textMode": "auto",
    },
    "timeseries": {"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    "table": {"cellHeight": "sm", "showHeader": True},
    "bargauge": {
        "displayMode": "basic",
        "orientation": "horizontal",
        "reduceOptions": _REDUCED,
        "showUnfilled": True,
    },
}
