"""Contributions of Grafana to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import (
    Certificate,
    Daemon,
    DashboardSite,
    PackageOf,
    Requisite,
    Secret,
    Service,
    Substitution,
)
from clustergen.cluster.model import Cluster
from clustergen.features.grafana.resolved import Grafana

PASSWORD = "/etc/grafana/admin-password"


def daemons(grafana: Grafana) -> Iterator[Daemon]:
    yield Daemon(grafana.port, grafana.port_at, "Grafana", "monitoring", source="anyone")


def sites(grafana: Grafana) -> Iterator[DashboardSite]:
    yield DashboardSite(grafana.address)


def certificates(grafana: Grafana) -> Iterator[Certificate]:
    if tls := grafana.tls:
        yield Certificate(tls.certificate)


def requisites(grafana: Grafana) -> Iterator[Requisite]:
    if tls := grafana.tls:
        yield Requisite("certificate and key of Grafana", ("monitoring",), f"{tls.certificate}, {tls.key}")


def secrets(_: Grafana) -> Iterator[Secret]:
    yield Secret("grafana", PASSWORD, ("monitoring",), owner="grafana", mode="0400", origin="given")


def services(_: Grafana) -> Iterator[Service]:
    yield Service("monitoring", "grafana-server")


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("grafana-server.service", "grafana")


def substitutions(_: Grafana) -> Iterator[Substitution]:
    yield Substitution(
        "no Grafana",
        "it comes from its vendor's repository; Prometheus, its rules and alerts are real",
        lambda document: document["monitoring"].update(grafana={"enabled": False}),
    )
