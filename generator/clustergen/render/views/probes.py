"""Exporters that ask others: those of blackbox and SNMP beside Prometheus, that of IPMI on nodes with a BMC."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import restart
from clustergen.render.file import File
from clustergen.render.views.alerts.snmp import MODULES, Module
from clustergen.render.views.scrape import has_bmcs, monitored

_DIRECTORY = "/etc/prometheus-exporters"
_BLACKBOX, _IPMI = "prometheus-blackbox-exporter.service", "prometheus-ipmi-exporter.service"
SNMP = "prometheus-snmp-exporter.service"
SNMP_SECRET, SNMP_AUTHS = "snmp", f"{_DIRECTORY}/snmp-auths.yml"
SNMP_FILES = f"{_DIRECTORY}/snmp*.yml"  # the tree's modules, the secret with the credentials, and the site's files


@record
class Exporter:
    """Arguments of an exporter, in the file that its unit reads them from."""

    unit: str
    arguments: tuple[str, ...]


def blackbox(cluster: Cluster) -> Exporter | None:
    spec = cluster.manifest.monitoring.blackbox
    if not monitored(cluster) or spec is None:
        return None
    # Prometheus on the same host asks for every probe; nobody else may choose what is probed.
    return Exporter(
        _BLACKBOX, (f"--config.file={_DIRECTORY}/blackbox.yml", f"--web.listen-address=localhost:{spec.port}")
    )


def ipmi(cluster: Cluster) -> Exporter | None:
    spec = cluster.manifest.monitoring.ipmi
    if not monitored(cluster) or spec is None or not has_bmcs(cluster):
        return None
    return Exporter(_IPMI, (f"--config.file={_DIRECTORY}/ipmi.yml", f"--web.listen-address=:{spec.port}"))


@record
class SnmpModules:
    """The modules for which the SNMP exporter asks devices."""

    modules: tuple[Module, ...]


def has_snmp(cluster: Cluster) -> bool:
    return monitored(cluster) and cluster.manifest.monitoring.snmp is not None


def snmp(cluster: Cluster) -> Exporter | None:
    spec = cluster.manifest.monitoring.snmp
    if spec is None or not has_snmp(cluster):
        return None
    # Nobody else may use the credentials.
    return Exporter(SNMP, (f"--config.file={SNMP_FILES}", f"--web.listen-address=localhost:{spec.port}"))


def snmp_modules(cluster: Cluster) -> SnmpModules | None:
    return SnmpModules(MODULES) if has_snmp(cluster) else None


_ARGUMENTS = "monitoring/etc/default/prometheus-blackbox-exporter"
_DROP_IN = "all/etc/systemd/system/prometheus-ipmi-exporter.service.d/50-clustergen.conf"
FILES = (
    File(_ARGUMENTS, blackbox, restart(_BLACKBOX)),
    File(f"monitoring{_DIRECTORY}/blackbox.yml", blackbox, restart(_BLACKBOX)),
    File("all/etc/default/prometheus-ipmi-exporter", ipmi, restart(_IPMI), source=_ARGUMENTS),
    File(f"all{_DIRECTORY}/ipmi.yml", ipmi, restart(_IPMI)),
    File(_DROP_IN, ipmi, restart(_IPMI)),
    File("monitoring/etc/default/prometheus-snmp-exporter", snmp, restart(SNMP), source=_ARGUMENTS),
    File(f"monitoring{_DIRECTORY}/snmp.yml", snmp_modules, restart(SNMP)),
)
