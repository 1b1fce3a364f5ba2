"""The node exporter takes its arguments."""

from __future__ import annotations

from clustergen.verify.check import Check, paths
from clustergen.verify.daemon import starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        name="node exporter",
        what="node exporter: its arguments",
        parser="prometheus-node-exporter",
        proves="The exporter starts with these arguments and listens. bash reads the file in place of systemd.",
        reads=paths("/etc/default/prometheus-node-exporter"),
        ask=starts("prometheus-node-exporter", "Listening on|TLS is disabled"),
    ),
)
