"""Grafana as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.features.grafana import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record


@record
class Tls:
    """Files on the node."""

    SECTIONS = ("GrafanaTls",)
    certificate: str
    key: str


@record
class Grafana(Listener):
    """Grafana."""

    url: str | None  # of a reverse proxy
    address: str  # where browsers reach it, without a slash at its end
    tls: Tls | None


def resolve(section: manifest.Grafana, _: Cluster, monitoring: Monitoring) -> Grafana | None:
    if not section.enabled:
        return None
    scheme = "https" if section.tls else "http"
    address = section.url or f"{scheme}://{monitoring.hosts[0]}:{section.port}"
    return copied(
        Grafana,
        section,
        port_at=stated_at(section, "monitoring", "grafana", "port"),
        address=address.rstrip("/"),
        tls=copied(Tls, section.tls) if section.tls else None,
    )


RECORDS = {Grafana: resolve}
