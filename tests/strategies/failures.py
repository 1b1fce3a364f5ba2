"""docs/failures.md: what can fail, and the alert that says so or the reason why none does."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from clustergen.render.alerts import Alert
from clustergen.render.views.alerts import topics
from strategies.trees import cluster_of

_PLACE = re.compile(r"(<!-- failures: ([\w ,]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SERVICE, _FAILED, _TARGET = "NodeServiceStopped", "NodeUnitFailed", "TargetDown"

Row = tuple[str, str]
"""A failure, and names of alerts or, in lower case, the reason for none."""

ROWS: dict[str, tuple[Row, ...]] = {
    "services": (
        ("slurmctld.service, no other serves", "SlurmctldUnreachable"),
        ("slurmctld, another controller serves", "SlurmControllerDown"),
        ("slurmdbd.service, mariadb.service: stopped", f"{_SERVICE}; SlurmdbdBacklog once 1000 records wait"),
        ("slurmd.service: stopped", _SERVICE),
        ("munge.service, sackd.service: stopped", _SERVICE),
        ("chrony.service, chronyd.service: stopped", _SERVICE),
        ("nvidia-persistenced.service, nvidia-dcgm.service, nvidia-fabricmanager.service: stopped", _SERVICE),
        ("nvidia-imex.service: stopped", "45-system of the health check drains the node: SlurmNodeDrained"),
        ("opensm.service, opensmd.service, nfs-server.service, zfs-zed.service, lnet.service: stopped", _SERVICE),
        ("grafana-server.service: stopped", _SERVICE),
        ("each service of this list: failed", _FAILED),
        ("prometheus-node-exporter.service", "NodeDown"),
        ("nvidia-dcgm-exporter.service", "GpuExporterDown"),
        ("prometheus.service, prometheus-alertmanager.service, alertmanager.service, other exporters", _TARGET),
        ("rsyslog.service", "LogsMissing"),
        ("jupyterhub.service", "NotebookHubDown; NotebooksFail, if it runs and jobs do not start"),
        ("ssh.service, sshd.service", "ProbeFailed, with `blackbox`"),
        (
            "NetworkManager.service, weka-agent.service, docker.service, irqbalance.service, nfs-idmapd.service, nvidia-mig-manager.service",
            f"{_FAILED}; none where stopped: what needs it fails at once and says so",
        ),
        ("nut-server.service, nut-monitor.service: stopped", _SERVICE),
        ("cachefilesd.service: stopped", f"{_SERVICE}; NFS files are read from the server"),
        ("sssd.service: stopped", f"{_SERVICE}; 45-system of the health check drains the node: SlurmNodeDrained"),
        ("LDAP servers, as SSSD of a node sees them", "DirectoryOffline"),
        ("nslcd.service", "none: not installed by clustergen"),
        ("systemd timers of backups", "BackupStale, BackupMissing"),
        (
            "systemd timers of metrics",
            "KernelMetricsOld, SlurmMetricsMissing, DiskMetricsOld, LogMetricsOld, RoceMetricsOld, DirectoryMetricsOld, LogSearchMetricsOld, DataSetMetricsOld",
        ),
        ("systemd timers of drift and pull", "DriftNotCompared, DriftNeverCompared, PullStale, PullMissing"),
        ("other timers and one-shot units, as clustergen-usage-report.timer", _FAILED),
    ),
    "slurm": (
        ("nodes that do not respond", "SlurmNodeDown; SlurmNodesSilent, if SlurmdTimeout is longer than its wait"),
        ("many nodes at once", "SlurmManyNodesDown"),
        ("a node with less memory, cores or GPUs than stated", "SlurmNodesInvalid"),
        ("a node that was drained, by the health check or a person", "SlurmNodeDrained"),
        ("prolog or epilog", "SlurmPrologFailed, SlurmPrologFailsOnMany"),
        ("a job that does not end", "SlurmJobsStuck"),
        ("messages to nodes wait", "SlurmAgentBacklog"),
        ("StateSaveLocation or the database's disk is full", "SlurmDiskAlmostFull"),
        (
            "StateSaveLocation of another cluster",
            "SlurmctldUnreachable: slurmctld refuses to start, and writes nothing",
        ),
        ("database of a release that is too old", f"{_SERVICE}: slurmdbd refuses to start, and writes nothing"),
        ("munge key that differs", "SlurmNodeDown: slurmd cannot register"),
    ),
    "machines": (
        ("machine, or its management network", "NodeDown"),
        ("a rack", "RackDown"),
        ("one port of a bond", "NodeBondDegraded"),
        ("Ethernet: errors, a link that flaps, a cable", "NodeNetworkErrors, LinkFlaps, CableUnplugged"),
        ("memory, swap", "NodeMemoryUsedUp, NodeSwapUsedUp"),
        ("load", "none: jobs make it; what hangs raises alerts of file systems and jobs"),
        ("local disk full: `/`, `/tmp`, `/var`", "NodeFilesystemFull"),
        ("inodes", "NodeInodesUsedUp"),
        ("read-only file system", "NodeFilesystemReadOnly"),
        ("memory module", "NodeMemoryUncorrectable, NodeMemoryCorrectable"),
        ("machine check, PCIe error, disk error, lockup in the kernel's log", "KernelErrors"),
        ("clock", "NodeClockSkew, NodeClockWrong, NodeClockUnsynchronised"),
        ("mirror: mdadm", "NodeRaidDegraded"),
        ("disk", "DiskFailing, DiskErrors, DiskWorn, DiskSilent"),
        ("power supply, fan, sensors", "PowerSupplyFailed, RackFeedLost, BmcSensorCritical, BmcSensorWarning, FanSlow"),
        ("air of a room, aisle or rack", "AirInletHot"),
        (
            "CDU, pump, chiller, leak",
            "CoolantInletHot, CoolantInletCold, CoolantOutletHot, CoolantFlowLow, CoolantSensorSilent",
        ),
        ("BMC", "BmcUnreadable; ProbeFailed, with `blackbox`"),
        ("PCIe lanes of a network adapter or GPU", "the health check drains the node: SlurmNodeDrained"),
        ("rack feed, PDU", "RackFeedHigh, PduNearOverload, PduOverload, SnmpDeviceSilent"),
        ("UPS", "UpsOnBattery, UpsBatteryLow, UpsUnprotected, UpsLoadHigh"),
    ),
    "gpus": (
        ("GPU gone", "GpuMissing, GpuFatalXid, KernelFatalXid"),
        ("GPU that needs a reset", "GpuRecoveryRequired, GpuRecoveryAdvised, GpuXidToWatch, KernelXidToWatch"),
        ("memory of a GPU", "GpuDoubleBitErrors, GpuRowRemapFailed, GpuRowRemapPending"),
        ("NVLink", "GpuNvlinkLost, GpuNvlinkErrors, GpuNvlinkBitErrors, GpuNvlinkRecovery"),
        ("NVLink switch tray or cartridge of a rack", "NvlinkDomainErrors"),
        ("PCIe", "GpuPcieReplays"),
        ("heat, power", "GpuVeryHot, GpuHot, GpuThermalThrottling, GpuPowerThrottling, GpuPowerBrake"),
        ("what DCGM reports", "GpuHealthFailed, GpuHealthWarning"),
        ("job that leaves its GPU idle", "GpuAllocatedIdle"),
    ),
    "fabric and storage": (
        ("fabric port", "FabricPortDown, FabricPortMissing, FabricPortSlow, FabricPortFlaps"),
        ("fabric cable", "FabricPortErrors, FabricPortSymbolErrors, FabricPortRecoveries, FabricPortDiscards"),
        ("leaf switch", "FabricSwitchDown"),
        ("RoCE that loses packets", "RocePacketsOutOfSequence, RoceAckTimeouts"),
        ("RoCE that is congested", "RoceCongested, RocePausesReceived, RocePausesSent"),
        ("file system that is not mounted", "StorageNotMounted"),
        ("file system that does not respond, or a server that answers and serves nothing", "StorageHangs"),
        ("cache of data sets of a node", "DataSetCacheFull"),
        ("file system full", "StorageFull"),
        ("ZFS pool that lost a disk", "StoragePoolDegraded"),
        ("pair of NFS servers", "NfsFailoverServers, NfsFailoverPartner"),
        ("other storage servers", "NodeDown and alerts on their disks; what they serve: StorageHangs on the clients"),
    ),
    "monitoring": (
        ("one of two Prometheus or Alertmanager", _TARGET),
        ("peers of Alertmanager that do not see each other", "AlertmanagerSplit"),
        ("configuration that is refused", "PrometheusConfigFailed, AlertmanagerConfigFailed"),
        ("rules", "PrometheusRulesFail, PrometheusRulesSlow"),
        ("disk of samples", "PrometheusStorageFails; NodeFilesystemFull before"),
        ("remote store", "PrometheusRemoteWriteFails"),
        ("way from Prometheus to Alertmanager", "PrometheusCannotNotify"),
        ("mail or chat", "AlertmanagerCannotSend, by the other receivers"),
        ("all of the monitoring, or every way out of the site", "Watchdog, which an outside service misses"),
        ("file of metrics", "TextfileUnreadable"),
        ("logs", "LogFlood, LogStoreFull"),
        ("search cluster of the logs", "LogSearchBehind, LogSearchRefused"),
    ),
    "dates and drift": (
        ("certificate", "CertificateFileExpires, CertificateExpires"),
        ("licence, contract", "LicenceExpires, LicenceExpired"),
        ("keys of munge and JWT", "none: they do not expire"),
        ("machine that differs from the manifest", "DriftErrors, DriftWarnings"),
    ),
}


_WAITS = {"0s": "rule's limit"}
"""An alert without a `for` has a limit in its expression, if any."""


@cache
def alerts() -> dict[str, list[Alert]]:
    """All alerts by name, of the clusters that their tests have."""
    from render.test_monitoring import ALERT_CASES, monitored

    by_name: dict[str, list[Alert]] = {}
    for _, changes in ALERT_CASES:
        with tempfile.TemporaryDirectory() as directory:
            for topic in topics(cluster_of(monitored(**changes), Path(directory))).values():
                for alert in topic.alerts:
                    by_name.setdefault(alert.name, []).append(alert)
    return by_name


def named(text: str) -> list[str]:
    """The alerts that a row names."""
    return re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\bWatchdog\b", text.replace("SlurmdTimeout", ""))


def tables(text: str) -> str:
    """A page's text with its tables as the alerts are today."""
    return _PLACE.sub(lambda match: match[1] + "\n" + "\n".join(_table(match[2])) + "\n\n" + match[3], text)


def _table(section: str) -> Iterator[str]:
    by_name = alerts()
    yield "| what fails | alert, or why none | severity | after |"
    yield "|---|---|---|---|"
    for part, outcome in ROWS[section]:
        members = [by_name[name] for name in named(outcome)]
        severities = ", ".join(dict.fromkeys(alert.severity for member in members for alert in member))
        waits = ", ".join(dict.fromkeys(_WAITS.get(member[0].wait, member[0].wait) for member in members))
        yield f"| {part} | {_linked(outcome)} | {severities} | {waits} |"


def _linked(outcome: str) -> str:
    for name in sorted(set(named(outcome)), key=len, reverse=True):
        outcome = re.sub(rf"(?<![`\w]){name}\b", f"`{name}`", outcome)
    return outcome
