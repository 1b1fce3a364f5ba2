"""Where the runbooks of alerts are: on a page that Prometheus serves."""

from __future__ import annotations

from clustergen.cluster.model import Cluster

PAGE = "runbooks.html"


def address(cluster: Cluster, alert: str) -> str:
    """The URL of an alert's runbook. Only where Prometheus runs."""
    port = cluster.manifest.monitoring.port
    return f"http://{cluster.hosts('monitoring')[0]}:{port}/consoles/{PAGE}#{alert}"
