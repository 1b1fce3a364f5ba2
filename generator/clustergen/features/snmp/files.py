"""The SNMP exporter on the monitoring nodes."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.snmp.modules import FILES as CONFIGURATION
from clustergen.features.snmp.modules import MODULES, UNIT, Module
from clustergen.features.snmp.resolved import Snmp
from clustergen.records import record
from clustergen.render.arguments import SOURCE, Arguments, restarts
from clustergen.render.effects import restart
from clustergen.render.file import File


@record
class Modules:
    """The modules for which the exporter asks devices."""

    modules: tuple[Module, ...]


def exporter(cluster: Cluster) -> Arguments | None:
    if not cluster.has(Snmp):
        return None
    # Nobody else may use the credentials.
    listen = f"--web.listen-address=localhost:{cluster.of(Snmp).port}"
    return Arguments(UNIT, (f"--config.file={CONFIGURATION}", listen))


def modules(cluster: Cluster) -> Modules | None:
    return Modules(MODULES) if cluster.has(Snmp) else None


FILES = (
    File("monitoring/etc/default/prometheus-snmp-exporter", exporter, restarts, source=SOURCE),
    File("monitoring/etc/prometheus-exporters/snmp.yml", modules, restart(UNIT)),
)
