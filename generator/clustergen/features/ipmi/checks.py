"""The IPMI exporter takes its arguments and configuration."""

from __future__ import annotations

from clustergen.verify.check import Check, paths
from clustergen.verify.daemon import starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        "IPMI exporter",
        "IPMI exporter: its arguments and configuration",
        "prometheus-ipmi-exporter",
        "The exporter starts with these arguments and this configuration and listens. No BMC is asked.",
        paths("/etc/default/prometheus-ipmi-exporter", "/etc/prometheus-exporters/ipmi.yml"),
        starts("prometheus-ipmi-exporter", "Listening on|TLS is disabled"),
    ),
)
