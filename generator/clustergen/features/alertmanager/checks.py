"""amtool reads Alertmanager's file, and Alertmanager takes its arguments."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths
from clustergen.verify.daemon import VERSION, starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        "amtool",
        "Alertmanager: configuration",
        "amtool check-config",
        "Every key is valid, every route has its receiver, every template expands. No message is sent.",
        paths("/etc/prometheus/alertmanager.yml", "/etc/alertmanager/alertmanager.yml"),
        Reader("amtool", VERSION, '"$program" check-config "$@"'),
    ),
    Check(
        "alertmanager",
        "Alertmanager: its arguments",
        "alertmanager",
        "Alertmanager starts with these arguments and the tree's configuration and listens. bash reads the file "
        "in place of systemd.",
        paths(
            "/etc/default/prometheus-alertmanager",
            "/etc/clustergen/alertmanager-*",
            "/etc/systemd/system/alertmanager.service",
        ),
        starts("prometheus-alertmanager", "Listening on|TLS is disabled"),
    ),
)
