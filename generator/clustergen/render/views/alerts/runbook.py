"""Pages that Prometheus serves: runbooks of alerts, and its targets."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Prometheus

PAGE = "runbooks.html"


def _prometheus(cluster: Cluster) -> str:
    return f"http://{cluster.of(Monitoring).hosts[0]}:{cluster.of(Prometheus).port}"


def targets(cluster: Cluster) -> str:
    """The URL of the targets, to which the name of a job is appended. Debian's package has the classic pages alone."""
    is_debian = cluster.with_role("monitoring")[0].type.os.fact("family") == "debian"
    return f"{_prometheus(cluster)}/{'classic/targets#job-' if is_debian else 'targets#pool-'}"


def address(cluster: Cluster, alert: str) -> str:
    """The URL of an alert's runbook. Only where Prometheus runs."""
    return f"{_prometheus(cluster)}/consoles/{PAGE}#{alert}"
