"""The blackbox exporter reads its probes and takes its arguments."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths
from clustergen.verify.daemon import VERSION, starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        "blackbox exporter",
        "blackbox exporter: probes",
        "blackbox_exporter --config.check",
        "The exporter accepts every module and key. Nothing is probed.",
        paths("/etc/prometheus-exporters/blackbox.yml"),
        Reader(
            "prometheus-blackbox-exporter",
            VERSION,
            '"$program" --config.check --config.file=/etc/prometheus-exporters/blackbox.yml',
        ),
    ),
    Check(
        "blackbox exporter arguments",
        "blackbox exporter: its arguments",
        "prometheus-blackbox-exporter",
        "The exporter starts with these arguments and the tree's probes and listens. bash reads the file in place of "
        "systemd.",
        paths("/etc/default/prometheus-blackbox-exporter"),
        starts("prometheus-blackbox-exporter", "Listening on|TLS is disabled"),
    ),
)
