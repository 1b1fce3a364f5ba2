"""The node exporter takes its arguments."""

from __future__ import annotations

from clustergen.verify.check import Check, paths
from clustergen.verify.daemon import starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        "node exporter",
        "node exporter: its arguments",
        "prometheus-node-exporter",
        "The exporter starts with these arguments and listens. bash reads the file in place of systemd.",
        paths("/etc/default/prometheus-node-exporter"),
        starts("prometheus-node-exporter", "Listening on|TLS is disabled"),
    ),
)
