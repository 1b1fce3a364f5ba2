"""Grafana's dashboards of this cluster: pages of panels whose queries read what its exporters serve.

A panel whose metrics nobody exports is left out, and so is a page without panels.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.feature import modules
from clustergen.records import replace
from clustergen.render.dashboards import Dashboard, Panel, Row
from clustergen.render.views.dashboards import (
    fabric,
    gpu,
    health,
    job,
    node,
    overview,
    power,
    slurm,
    storage,
    users,
)
from clustergen.render.views.dashboards.encode import encode
from clustergen.render.views.dashboards.exported import exported, metrics_of

_PAGES = (
    overview.dashboard,
    node.dashboard,
    gpu.dashboard,
    job.dashboard,
    users.dashboard,
    slurm.dashboard,
    fabric.dashboard,
    storage.dashboard,
    power.dashboard,
    health.dashboard,
)

_MENU = ("overview", "node", "gpu", "job", "users", "slurm", "fabric", "storage", "power", "logs", "health")
"""The order of the menu; pages of other features follow."""


@once_per_cluster
def dashboards(cluster: Cluster) -> tuple[Dashboard, ...]:
    """The pages of a cluster, in the order of their menu."""
    metrics = exported(cluster)
    return tuple(page for page in (_limited(page, metrics) for page in complete(cluster)) if page.rows)


def complete(cluster: Cluster) -> tuple[Dashboard, ...]:
    """The pages with all panels, whether or not an exporter of this cluster has their metrics."""
    makers = (*_PAGES, *(module.dashboard for module in modules("dashboards")))
    pages = [page for make in makers if (page := make(cluster)) is not None]
    return tuple(sorted(pages, key=lambda page: _MENU.index(page.slug) if page.slug in _MENU else len(_MENU)))


def _limited(page: Dashboard, metrics: frozenset[str]) -> Dashboard:
    rows = (Row(row.title, tuple(_panels(row, metrics))) for row in page.rows)
    return replace(page, rows=tuple(row for row in rows if row.panels))


def _panels(row: Row, metrics: frozenset[str]) -> Iterator[Panel]:
    for panel in row.panels:
        targets = tuple(target for target in panel.targets if metrics_of(target.expr) <= metrics)
        if targets:
            yield replace(panel, targets=targets)


def files(cluster: Cluster) -> dict[str, str]:
    """Slug → JSON text of each dashboard."""
    pages = dashboards(cluster)
    return {page.slug: encode(page, pages, exported(cluster)) for page in pages}
