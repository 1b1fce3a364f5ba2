"""The blackbox exporter on the monitoring nodes."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.blackbox.resolved import Blackbox
from clustergen.render.arguments import SOURCE, Arguments, restarts
from clustergen.render.file import File

_CONFIGURATION = "/etc/prometheus-exporters/blackbox.yml"


def exporter(_: Cluster, blackbox: Blackbox) -> Arguments:
    # Prometheus on the same host asks for every probe; nobody else may choose what is probed.
    listen = f"--web.listen-address=localhost:{blackbox.port}"
    return Arguments("prometheus-blackbox-exporter.service", (f"--config.file={_CONFIGURATION}", listen))


FILES = (File(SOURCE, exporter, restarts), File(f"monitoring{_CONFIGURATION}", exporter, restarts))
