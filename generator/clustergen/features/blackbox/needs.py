"""Contributions of the blackbox exporter to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.ansible import Ssh
from clustergen.cluster.contributions import Daemon, Exported, PackageOf, ScrapeJob, Targets
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import bmc_groups, static
from clustergen.features.blackbox.resolved import Blackbox
from clustergen.records import replace

_HTTPS = 443


def daemons(blackbox: Blackbox) -> Iterator[Daemon]:
    yield Daemon(blackbox.port, blackbox.port_at, "blackbox exporter", "monitoring", source=None)


def scrape_jobs(cluster: Cluster, blackbox: Blackbox) -> Iterator[ScrapeJob]:
    probe = ScrapeJob("", path="/probe", interval_s=blackbox.interval_s, prober=f"localhost:{blackbox.port}")
    if blackbox.ssh:
        port = cluster.of(Ssh).port
        yield replace(probe, name="probe-ssh", members=static(cluster.groups), port=port, module="ssh")
    if blackbox.bmc:
        members = bmc_groups(cluster)
        yield replace(probe, name="probe-bmc", members=members, port=_HTTPS, suffix="-bmc", module="tcp")
    if blackbox.web:
        yield replace(probe, name="probe-web", others=(Targets(blackbox.web),), has_hosts=False, module="http")


def exported(blackbox: Blackbox) -> Iterator[Exported]:
    expiry = ("probe_ssl_earliest_cert_expiry",) if blackbox.web else ()
    yield Exported(("probe_success", "probe_duration_seconds", *expiry))


def packages(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("prometheus-blackbox-exporter.service", "blackbox_exporter")
