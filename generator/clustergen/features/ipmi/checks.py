"""The IPMI exporter takes its arguments and configuration."""

from __future__ import annotations

from clustergen.verify.check import Check, paths
from clustergen.verify.daemon import starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        name="IPMI exporter",
        what="IPMI exporter: its arguments and configuration",
        parser="prometheus-ipmi-exporter",
        proves="The exporter starts with these arguments and this configuration and listens. No BMC is asked.",
        reads=paths("/etc/default/prometheus-ipmi-exporter", "/etc/prometheus-exporters/ipmi.yml"),
        ask=starts("prometheus-ipmi-exporter", "Listening on|TLS is disabled"),
    ),
)
