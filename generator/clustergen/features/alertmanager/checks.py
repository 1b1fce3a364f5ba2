"""amtool reads Alertmanager's file, and Alertmanager takes its arguments."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths
from clustergen.verify.daemon import VERSION, starts

COMPONENT = "monitoring"
CHECKS = (
    Check(
        name="amtool",
        what="Alertmanager: configuration",
        parser="amtool check-config",
        proves="Every key is valid, every route has its receiver, every template expands. No message is sent.",
        reads=paths("/etc/prometheus/alertmanager.yml", "/etc/alertmanager/alertmanager.yml"),
        ask=Reader("amtool", VERSION, '"$program" check-config "$@"'),
    ),
    Check(
        name="alertmanager",
        what="Alertmanager: its arguments",
        parser="alertmanager",
        proves="Alertmanager starts with these arguments and the tree's configuration and listens. bash reads the file "
        "in place of systemd.",
        reads=paths(
            "/etc/default/prometheus-alertmanager",
            "/etc/clustergen/alertmanager-*",
            "/etc/systemd/system/alertmanager.service",
        ),
        ask=starts("prometheus-alertmanager", "Listening on|TLS is disabled"),
    ),
)
