"""The blackbox exporter reads its probes and takes its arguments."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths
from clustergen.verify.daemon import VERSION, starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        name="blackbox exporter",
        what="blackbox exporter: probes",
        parser="blackbox_exporter --config.check",
        proves="The exporter accepts every module and key. Nothing is probed.",
        reads=paths("/etc/prometheus-exporters/blackbox.yml"),
        ask=Reader(
            "prometheus-blackbox-exporter",
            VERSION,
            '"$program" --config.check --config.file=/etc/prometheus-exporters/blackbox.yml',
        ),
    ),
    Check(
        name="blackbox exporter arguments",
        what="blackbox exporter: its arguments",
        parser="prometheus-blackbox-exporter",
        proves="The exporter starts with these arguments and the tree's probes and listens. bash reads the file in"
        " place of systemd.",
        reads=paths("/etc/default/prometheus-blackbox-exporter"),
        ask=starts("prometheus-blackbox-exporter", "Listening on|TLS is disabled"),
    ),
)
