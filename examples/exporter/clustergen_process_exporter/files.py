"""Files of process-exporter."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.arguments import Arguments, restarts
from clustergen.render.file import File
from clustergen_process_exporter.resolved import ProcessExporter

_CONFIGURATION = "/etc/prometheus-exporters/process.yml"


def exporter(cluster: Cluster) -> Arguments | None:
    if not cluster.has(ProcessExporter):
        return None
    listen = f"--web.listen-address=:{cluster.of(ProcessExporter).port}"
    return Arguments("prometheus-process-exporter.service", (f"--config.path={_CONFIGURATION}", listen))


FILES = (
    File("login/etc/default/prometheus-process-exporter", exporter, restarts),
    File(f"login{_CONFIGURATION}", exporter, restarts),
)
