"""Grafana's dashboards of this cluster: pages of panels whose queries read what its exporters serve.

A panel whose metrics nobody exports is left out, and so is a page without panels.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from clustergen.cluster.contributions import DashboardSite
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.discovery import modules_of
from clustergen.feature import claim, items_of, modules, result_of
from clustergen.records import replace
from clustergen.render.alerts import Alert, Topic
from clustergen.render.dashboards import PREFIX, Dashboard, PageRow, Panel, Row
from clustergen.render.views.dashboards.encode import encode
from clustergen.render.views.dashboards.exported import exported, metrics_of


@once_per_cluster
def dashboards(cluster: Cluster) -> tuple[Dashboard, ...]:
    """The pages of a cluster, in the order of their menu."""
    metrics = exported(cluster)
    return tuple(page for page in (_limited(page, metrics) for page in complete(cluster)) if page.rows)


def complete(cluster: Cluster) -> tuple[Dashboard, ...]:
    """The pages with all panels, whether or not an exporter of this cluster has their metrics."""
    parts = [*modules_of(__name__, "dashboard"), *modules("dashboards")]
    parts = [module for module in parts if cluster.asks(module.__name__)]
    added = [row for module in parts if hasattr(module, "rows") for row in items_of(module.rows, PageRow, cluster)]
    pages = []
    owners: dict[str, str] = {}
    for module in parts:
        if hasattr(module, "dashboard") and (page := result_of(module.dashboard, Dashboard, cluster)) is not None:
            claim(owners, page.slug, module.__name__, "have the dashboard {}")
            pages.append(_with(page, added))
    return tuple(sorted(pages, key=lambda page: page.place))


def has_panels(cluster: Cluster, module: ModuleType) -> bool:
    """True if a panel of a feature has metrics that the cluster exports."""
    page = module.dashboard(cluster) if hasattr(module, "dashboard") else None
    rows = [each.row for each in module.rows(cluster)] if hasattr(module, "rows") else []
    return any(True for row in (*rows, *(page.rows if page else ())) for _ in _panels(row, exported(cluster)))


def _with(page: Dashboard, added: list[PageRow]) -> Dashboard:
    rows = list(page.rows)
    for each in added:
        if each.page == page.slug:
            titles = ["", *(row.title for row in rows)]
            rows.insert(titles.index(each.after) if each.after in titles else len(rows), each.row)
    return replace(page, rows=tuple(rows))


def _limited(page: Dashboard, metrics: frozenset[str]) -> Dashboard:
    rows = (Row(row.title, tuple(_panels(row, metrics))) for row in page.rows)
    return replace(page, rows=tuple(row for row in rows if row.panels))


def _panels(row: Row, metrics: frozenset[str]) -> Iterator[Panel]:
    for panel in row.panels:
        targets = tuple(target for target in panel.targets if metrics_of(target.expr) <= metrics)
        if targets:
            yield replace(panel, targets=targets)


def site(cluster: Cluster) -> str | None:
    """Where browsers reach the pages, without a slash at its end; None where nothing shows them."""
    return next((site.address for site in cluster.needs(DashboardSite)), None)


def url(cluster: Cluster, slug: str) -> str | None:
    """The URL of a page, without variables; None where nothing shows it."""
    return f"{address}/d/{PREFIX}{slug}" if (address := site(cluster)) else None


def page_of(cluster: Cluster, topic: Topic, alert: Alert) -> str | None:
    """The URL of the page that shows what an alert is about; holds Prometheus' `{{ … }}`. A page of all nodes stands
    for that of one where the alert names none.
    """
    pages = {page.slug: page for page in dashboards(cluster)} if site(cluster) else {}
    slug, _, variables = (alert.page or topic.page).partition("?")
    if slug not in pages:
        return None
    if any(variable.name == "instance" for variable in pages[slug].variables) and not variables:
        if "$labels.instance" in alert.summary:
            variables = "var-instance={{ $labels.instance }}"
        elif slug == "node":
            slug = "overview"
    return f"{url(cluster, slug)}{'?' if variables else ''}{variables}"


def files(cluster: Cluster) -> dict[str, str]:
    """Slug → JSON text of each dashboard."""
    pages = dashboards(cluster)
    return {page.slug: encode(page, pages, exported(cluster)) for page in pages}
