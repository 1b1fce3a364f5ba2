"""Runbooks: a page that Prometheus serves, with the meaning, the measurement and the first steps of each alert."""

from __future__ import annotations

import re

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.records import record
from clustergen.render.alerts import Alert, Topic
from clustergen.render.views.alerts import topics
from clustergen.render.views.dashboards import page_of, url

_EXPANDED = re.compile(r"\{\{\s*\$(?:labels\.)?(\w+)[^}]*\}\}")


@record
class Runbook:
    """One alert in words, with placeholders in angle brackets. `variants`: labels, and lines of the expression.
    `steps`: text and commands in turn.
    """

    name: str
    severity: str
    works: str
    summary: str
    meaning: str
    variants: tuple[tuple[str, tuple[str, ...]], ...]
    wait: str
    steps: tuple[tuple[str, ...], ...]
    dashboard: str | None


@record
class Section:
    """The runbooks of one topic."""

    title: str
    runbooks: tuple[Runbook, ...]


@record
class Page:
    """The page; `overview` and `node` are URLs of dashboards where Grafana runs."""

    cluster: str
    sections: tuple[Section, ...]
    overview: str | None
    node: str | None


def page(cluster: Cluster) -> Page:
    sections = []
    for topic in topics(cluster).values():
        by_name: dict[str, list[Alert]] = {}
        for alert in topic.alerts:
            by_name.setdefault(alert.name, []).append(alert)
        if by_name:
            books = tuple(_runbook(cluster, topic, alerts) for alerts in by_name.values())
            sections.append(Section(topic.title.rstrip("."), books))
    overview, node = (url(cluster, slug) for slug in ("overview", "node"))
    return Page(cluster.name, tuple(sections), overview, node)


def _runbook(cluster: Cluster, topic: Topic, alerts: list[Alert]) -> Runbook:
    first = alerts[0]
    dashboard = page_of(cluster, topic, first)
    return Runbook(
        name=first.name,
        severity=first.severity,
        works=first.works or topic.works,
        summary=_in_words(first.summary),
        meaning=_in_words(first.meaning),
        variants=tuple(
            (", ".join(text for _, text in alert.labels), tuple(alert.expr.splitlines())) for alert in alerts
        ),
        wait=first.wait,
        steps=tuple(tuple(step.split("`")) for step in _steps(topic, first, drains=cluster.has(Slurm))),
        dashboard=dashboard.partition("?")[0] if dashboard else None,
    )


def _steps(topic: Topic, alert: Alert, *, drains: bool) -> tuple[str, ...]:
    is_of_node = "$labels.instance" in alert.summary and "$labels.hpc_job" not in alert.summary
    last = (
        f"If jobs on the node fail: `scontrol update nodename=NODE state=drain reason='{alert.name}'`. Resume it after"
        " the repair."
        if drains and topic.drains and is_of_node
        else "The alert ends by itself after the repair. For planned work, set a silence in Alertmanager."
    )
    return tuple(filter(None, (alert.look or topic.look, _in_words(alert.action), last)))


def _in_words(text: str) -> str:
    """Prometheus' placeholders as <name>: the page is a template of its own, and shows no single alert."""
    return _EXPANDED.sub(r"<\1>", text)
