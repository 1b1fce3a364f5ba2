"""Grafana on the monitoring nodes: its settings, data sources, dashboards, and where its own alerts go."""

from __future__ import annotations

from urllib.parse import urlsplit

from clustergen.cluster.contributions import Notifier
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Prometheus, Scraping
from clustergen.features.grafana.needs import PASSWORD
from clustergen.features.grafana.resolved import Grafana
from clustergen.records import record
from clustergen.render.effects import NONE, restart
from clustergen.render.file import Context, File
from clustergen.render.views import dashboards
from clustergen.render.views.dashboards.encode import ALERTMANAGER, PROMETHEUS

UNIT = "grafana-server.service"
DASHBOARDS = "/etc/grafana/dashboards"


@record
class Settings:
    """grafana.ini."""

    protocol: str
    port: int
    root_url: str | None
    domain: str | None
    certificate: str | None
    key: str | None
    secure: bool  # browsers send the session's cookie over HTTPS only
    password: str
    home: str


@record
class Sources:
    """The data sources; that of alerts is None where no Alertmanager runs."""

    prometheus_uid: str
    prometheus: str
    alertmanager_uid: str
    alertmanager: str | None
    interval: int


def settings(_: Cluster, grafana: Grafana) -> Settings | None:
    tls = grafana.tls
    url = urlsplit(grafana.url) if grafana.url else None
    return Settings(
        protocol="https" if tls else "http",
        port=grafana.port,
        root_url=grafana.url,
        domain=url.hostname if url else None,
        certificate=tls.certificate if tls else None,
        key=tls.key if tls else None,
        secure=bool(tls) or bool(url and url.scheme == "https"),
        password=PASSWORD,
        home=f"{DASHBOARDS}/overview.json",
    )


def sources(cluster: Cluster, _: Grafana) -> Sources:
    return Sources(
        prometheus_uid=PROMETHEUS,
        prometheus=f"http://localhost:{cluster.of(Prometheus).port}",
        alertmanager_uid=ALERTMANAGER,
        alertmanager=_alertmanager(cluster),
        interval=cluster.of(Scraping).interval_s,
    )


def _alertmanager(cluster: Cluster) -> str | None:
    return next((f"http://localhost:{notifier.port}" for notifier in cluster.needs(Notifier)), None)


def provider(cluster: Cluster, _: Grafana) -> Context:
    """Where Grafana finds the dashboards."""
    return {"title": f"Cluster {cluster.name}", "directory": DASHBOARDS}


def contact(cluster: Cluster, _: Grafana) -> Context | None:
    """The contact point of alerts that users define in Grafana: this cluster's Alertmanager."""
    return {"alertmanager": address} if (address := _alertmanager(cluster)) else None


def pages(cluster: Cluster, _: Grafana) -> dict[str, str]:
    return dashboards.files(cluster)


_RESTART = restart(UNIT)
_ETC = "monitoring/etc/grafana"
FILES = (
    File(f"{_ETC}/grafana.ini", settings, _RESTART),
    File(f"{_ETC}/provisioning/datasources/clustergen.yaml", sources, _RESTART),
    File(f"{_ETC}/provisioning/dashboards/clustergen.yaml", provider, _RESTART),
    File(f"{_ETC}/provisioning/alerting/clustergen.yaml", contact, _RESTART),
    File(f"{_ETC}/dashboards/{{page}}.json", pages, NONE),
)
