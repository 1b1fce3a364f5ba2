"""Grafana as written."""

from typing import Annotated

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, PortNumber, Section, Url, field


class GrafanaTls(Section):
    """Certificate of Grafana's own HTTPS."""

    certificate: AbsolutePath = field(..., "File on the monitoring node: the certificate and its chain.")
    key: AbsolutePath = field(..., "File on the monitoring node: the private key, readable by the user grafana.")


class Grafana(Section):
    """Grafana with dashboards of this cluster. The administrator's password is the secret `grafana`."""

    enabled: bool = field(True, "Whether to install Grafana, from Grafana Labs' package repository.")
    port: PortNumber = field(ports()["grafana"].port, "Port.")
    url: Url | None = field(
        None, "URL under which browsers reach Grafana, as behind a reverse proxy; default: the host name and port."
    )
    tls: Annotated[GrafanaTls | None, NOT_EMPTY] = field(
        None, "HTTPS by Grafana itself; default: HTTP, for a reverse proxy or an ssh tunnel."
    )


PLACES = {
    "monitoring.grafana": (
        Annotated[Grafana | None, NOT_EMPTY],
        field(None, "Grafana with dashboards; default: not installed."),
    )
}
