"""Prometheus: samples and the site's own jobs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.monitoring import Monitoring

_OWN_JOBS = ("alertmanager", "dcgm", "node", "node-ipmi", "prometheus", "snmp")  # and slurm…, probe-…


def retention(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    if section.retention.seconds == 0 and not section.retention_size:
        yield Finding(
            "value-out-of-range",
            ("monitoring", "retention"),
            "Prometheus ignores a retention of 0 and keeps samples for 15 days",
            "write 15d, or set retention_size",
        )


def scrape_job_clash(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    for name in section.targets:
        if name in _OWN_JOBS or name.startswith(("slurm", "probe-")):
            yield Finding(
                "scrape-job-clash",
                ("monitoring", "targets", name),
                f"scrape job '{name}' already exists for the exporters of this cluster",
                "rename this scrape job",
                key=True,
            )
