"""Exporters that ask others: those of blackbox and SNMP beside Prometheus, that of IPMI on nodes with a BMC."""

from __future__ import annotations

from clustergen.cluster.features.monitoring import Blackbox, Ipmi, Snmp
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import restart
from clustergen.render.file import File
from clustergen.render.views.alerts.snmp import MODULES, Module

_DIRECTORY = "/etc/prometheus-exporters"
_BLACKBOX, _IPMI = "prometheus-blackbox-exporter.service", "prometheus-ipmi-exporter.service"
SNMP = "prometheus-snmp-exporter.service"
SNMP_FILES = f"{_DIRECTORY}/snmp*.yml"  # the tree's modules, the secret with the credentials, and the site's files


@record
class Exporter:
    """Arguments of an exporter, in the file that its unit reads them from."""

    unit: str
    arguments: tuple[str, ...]


def blackbox(cluster: Cluster) -> Exporter | None:
    if not cluster.has(Blackbox):
        return None
    # Prometheus on the same host asks for every probe; nobody else may choose what is probed.
    listen = f"--web.listen-address=localhost:{cluster.of(Blackbox).port}"
    return Exporter(_BLACKBOX, (f"--config.file={_DIRECTORY}/blackbox.yml", listen))


def ipmi(cluster: Cluster) -> Exporter | None:
    if not cluster.has(Ipmi):
        return None
    listen = f"--web.listen-address=:{cluster.of(Ipmi).port}"
    return Exporter(_IPMI, (f"--config.file={_DIRECTORY}/ipmi.yml", listen))


@record
class SnmpModules:
    """The modules for which the SNMP exporter asks devices."""

    modules: tuple[Module, ...]


def snmp(cluster: Cluster) -> Exporter | None:
    if not cluster.has(Snmp):
        return None
    # Nobody else may use the credentials.
    listen = f"--web.listen-address=localhost:{cluster.of(Snmp).port}"
    return Exporter(SNMP, (f"--config.file={SNMP_FILES}", listen))


def snmp_modules(cluster: Cluster) -> SnmpModules | None:
    return SnmpModules(MODULES) if cluster.has(Snmp) else None


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
