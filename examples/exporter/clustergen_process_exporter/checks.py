"""What `clustergen verify` reads."""

from __future__ import annotations

from clustergen.verify.check import Check, paths
from clustergen.verify.daemon import starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        "process exporter",
        "process exporter: names and arguments",
        "prometheus-process-exporter",
        "The exporter starts with these arguments and listens.",
        paths("/etc/prometheus-exporters/process.yml", "/etc/default/prometheus-process-exporter"),
        starts("prometheus-process-exporter", "Listening on"),
    ),
)
