"""The IPMI exporter of nodes, which asks their BMCs."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.ipmi.resolved import Ipmi
from clustergen.render.arguments import SOURCE, Arguments, restarts
from clustergen.render.file import File

_CONFIGURATION = "/etc/prometheus-exporters/ipmi.yml"


def exporter(_: Cluster, ipmi: Ipmi) -> Arguments:
    listen = f"--web.listen-address=:{ipmi.port}"
    return Arguments("prometheus-ipmi-exporter.service", (f"--config.file={_CONFIGURATION}", listen))


FILES = (
    File("all/etc/default/prometheus-ipmi-exporter", exporter, restarts, source=SOURCE),
    File(f"all{_CONFIGURATION}", exporter, restarts),
    File("all/etc/systemd/system/prometheus-ipmi-exporter.service.d/50-clustergen.conf", exporter, restarts),
)
