"""The SNMP exporter on the monitoring nodes."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.snmp.modules import FILES as CONFIGURATION
from clustergen.features.snmp.modules import MODULES, UNIT
from clustergen.features.snmp.resolved import Snmp
from clustergen.render.arguments import SOURCE, Arguments, restarts
from clustergen.render.effects import restart
from clustergen.render.file import Context, File


def exporter(_: Cluster, snmp: Snmp) -> Arguments:
    # Nobody else may use the credentials.
    listen = f"--web.listen-address=localhost:{snmp.port}"
    return Arguments(UNIT, (f"--config.file={CONFIGURATION}", listen))


def modules(cluster: Cluster) -> Context | None:
    """The modules for which the exporter asks devices."""
    return {"modules": MODULES} if cluster.has(Snmp) else None


FILES = (
    File("monitoring/etc/default/prometheus-snmp-exporter", exporter, restarts, source=SOURCE),
    File("monitoring/etc/prometheus-exporters/snmp.yml", modules, restart(UNIT)),
)
