"""Grafana on the monitoring nodes: its settings, data sources, dashboards, and where its own alerts go."""

from __future__ import annotations

from urllib.parse import urlsplit

from clustergen.cluster.features.monitoring import GRAFANA_PASSWORD, Alertmanager, Grafana
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Prometheus, Scraping
from clustergen.records import record
from clustergen.render.alerts import Alert, Topic
from clustergen.render.dashboards import PREFIX
from clustergen.render.effects import NONE, restart
from clustergen.render.file import File
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
    """The data sources; the URL of Alertmanager is None where none runs."""

    prometheus_uid: str
    prometheus: str
    alertmanager_uid: str
    alertmanager: str | None
    interval: int


@record
class Provider:
    """Where Grafana finds the dashboards."""

    title: str
    directory: str


@record
class Contact:
    """The contact point of alerts that users define in Grafana: this cluster's Alertmanager."""

    alertmanager: str


def settings(cluster: Cluster) -> Settings | None:
    if not cluster.has(Grafana):
        return None
    grafana = cluster.of(Grafana)
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
        password=GRAFANA_PASSWORD,
        home=f"{DASHBOARDS}/overview.json",
    )


def dashboard(cluster: Cluster, slug: str) -> str | None:
    """The URL of a dashboard, without variables; None without Grafana."""
    return f"{cluster.of(Grafana).address}/d/{PREFIX}{slug}" if cluster.has(Grafana) else None


def page_of(cluster: Cluster, topic: Topic, alert: Alert) -> str | None:
    """The URL of the dashboard that shows what an alert is about; holds Prometheus' `{{ … }}`. A page of all nodes
    stands for that of one where the alert names none.
    """
    pages = {page.slug: page for page in dashboards.dashboards(cluster)} if cluster.has(Grafana) else {}
    slug, _, variables = (alert.page or topic.page).partition("?")
    if slug not in pages:
        return None
    if any(variable.name == "instance" for variable in pages[slug].variables) and not variables:
        if "$labels.instance" in alert.summary:
            variables = "var-instance={{ $labels.instance }}"
        elif slug == "node":
            slug = "overview"
    return f"{dashboard(cluster, slug)}{'?' if variables else ''}{variables}"


def sources(cluster: Cluster) -> Sources | None:
    if not cluster.has(Grafana):
        return None
    return Sources(
        prometheus_uid=PROMETHEUS,
        prometheus=f"http://localhost:{cluster.of(Prometheus).port}",
        alertmanager_uid=ALERTMANAGER,
        alertmanager=f"http://localhost:{cluster.of(Alertmanager).port}" if cluster.has(Alertmanager) else None,
        interval=cluster.of(Scraping).interval_s,
    )


def provider(cluster: Cluster) -> Provider | None:
    return Provider(f"Cluster {cluster.name}", DASHBOARDS) if cluster.has(Grafana) else None


def contact(cluster: Cluster) -> Contact | None:
    daemons = sources(cluster)
    return Contact(daemons.alertmanager) if daemons and daemons.alertmanager else None


def pages(cluster: Cluster) -> dict[str, str]:
    return dashboards.files(cluster) if cluster.has(Grafana) else {}


_RESTART = restart(UNIT)
_ETC = "monitoring/etc/grafana"
FILES = (
    File(f"{_ETC}/grafana.ini", settings, _RESTART),
    File(f"{_ETC}/provisioning/datasources/clustergen.yaml", sources, _RESTART),
    File(f"{_ETC}/provisioning/dashboards/clustergen.yaml", provider, _RESTART),
    File(f"{_ETC}/provisioning/alerting/clustergen.yaml", contact, _RESTART),
    File(f"{_ETC}/dashboards/{{page}}.json", pages, NONE),
)
