"""Runbooks: a page that Prometheus serves, with the meaning, the measurement and the first steps of each alert."""

from __future__ import annotations

import re

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.alerts import Alert
from clustergen.render.views import grafana
from clustergen.render.views.alerts import topics
from clustergen.render.views.alerts.gpu import IDLE_ALERT

_EXPANDED = re.compile(r"\{\{\s*\$(?:labels\.)?(\w+)[^}]*\}\}")
_LOOK = {
    "cluster": "See the cluster overview.",
    "gpu": "On the node: `timeout 20 nvidia-smi` and `journalctl -k --grep 'NVRM|Xid'` show the state of its GPUs.",
    "node": "`ssh NODE`, or open the console of its BMC. `journalctl -p warning --since -1h` shows what happened.",
    "slurm": "On a controller: `sinfo -R`, `scontrol show node NODE`, `journalctl -u slurmctld -n 50`.",
    "fabric": "On the node: `rdma link`, `ibstat`, `journalctl -k --grep mlx5`. Compare them with the switch port.",
    "storage": "On the node: `findmnt <mountpoint>`, `timeout 5 stat -f <mountpoint>`, `journalctl -k --since -1h`.",
    "kernel": "On the node: `journalctl -k --since -1h`. The log collector has the same lines in kernel.log.",
    "disks": "On the node: `smartctl --xall <device>`, and `journalctl -k` for errors of the device.",
    "probes": "From the monitoring node, connect by hand: `ssh HOST`, or `curl -kv https://HOST/`.",
    "sensors": "On the node: `ipmi-sensors`, and `ipmi-sel` for the event log of the BMC.",
    "power": "Compare the rack with others, and with the time before.",
    "snmp": "The web page of the device shows its state and its log; compare it with the dashboard.",
    "logs": "On the log collector: `du -s /var/log/clustergen/* | sort -n | tail`, `journalctl -t clustergen-logs`.",
    "expiry": "`openssl x509 -noout -enddate -in FILE` shows the date of a certificate.",
    "backups": "On the controller: `systemctl list-timers 'clustergen-*'`.",
    "drift": "On the controller: `journalctl -u clustergen-drift -n 50` shows the last report.",
    "pull": "On the node: `journalctl -u clustergen-pull -n 50` names the reason of the last run that failed.",
    "meta": "Targets, rules and configuration are in the menu Status of Prometheus.",
}
_LOOK_OF = {
    IDLE_ALERT: "On a controller: `scontrol show job <hpc_job>` names its user, command and output file.",
    "NodeFilesystemFull": "On the node: `df -h <mountpoint>`.",
    "NodeInodesUsedUp": "On the node: `du --inodes -x --max-depth=2 <mountpoint> | sort -n | tail`.",
    "NodeRaidDegraded": "On the node: `cat /proc/mdstat`.",
    "NodeUnitFailed": "On the node: `systemctl --failed`.",
    "PowerSupplyFailed": "On the node: `ipmi-sensors --sensor-types=Power_Supply` and `ipmi-sel | tail`.",
    "RackDown": "Ping the nodes and their BMCs: if neither answers, it is the power or the switch of the rack.",
    "RackFeedLost": "The dashboard shows the rack's power; on a node, `ipmi-sensors` shows which supply has no input.",
    "SlurmctldUnreachable": "On each controller: `scontrol ping`, `systemctl status slurmctld`, `df -h {state}`.",
    "SlurmMetricsMissing": "Status, Targets in the menu of Prometheus shows whether the controllers answer.",
    "SlurmdbdBacklog": "On a controller: `sdiag | grep DBD`; on slurmdbd's node: `journalctl -u slurmdbd -n 50`.",
    "SlurmJobsStuck": "On a controller: `squeue --states=COMPLETING`.",
    "StorageFull": "On a node that mounts it: `df -h <mountpoint>`.",
    "StoragePoolDegraded": "On the server: `zpool status -x`.",
}
"""First steps of alerts that their topic's does not suit. Commands are in backticks; `state` is StateSaveLocation."""
_NOT_OF_THE_NODE = (IDLE_ALERT,)
_ON_A_NODE = ("gpu", "node", "fabric", "storage", "kernel", "disks", "sensors")


@record
class Runbook:
    """One alert in words, with placeholders in angle brackets. `variants`: labels, and lines of the expression.
    `steps`: text and commands in turn.
    """

    name: str
    severity: str
    summary: str
    meaning: str
    variants: tuple[tuple[str, tuple[str, ...]], ...]
    wait: str
    steps: tuple[tuple[str, ...], ...]
    dashboard: str | None


@record
class Section:
    """The runbooks of one topic."""

    title: str
    runbooks: tuple[Runbook, ...]


@record
class Page:
    """The page; `overview` and `node` are URLs of dashboards where Grafana runs."""

    cluster: str
    sections: tuple[Section, ...]
    overview: str | None
    node: str | None


def page(cluster: Cluster) -> Page:
    sections = []
    for topic in topics(cluster).values():
        by_name: dict[str, list[Alert]] = {}
        for alert in topic.alerts:
            by_name.setdefault(alert.name, []).append(alert)
        if by_name:
            books = tuple(_runbook(cluster, topic.name, alerts) for alerts in by_name.values())
            sections.append(Section(topic.title.rstrip("."), books))
    overview, node = (grafana.dashboard(cluster, slug) for slug in ("overview", "node"))
    return Page(cluster.name, tuple(sections), overview, node)


def _runbook(cluster: Cluster, topic: str, alerts: list[Alert]) -> Runbook:
    first = alerts[0]
    dashboard = grafana.page_of(cluster, topic, first)
    return Runbook(
        name=first.name,
        severity=first.severity,
        summary=_in_words(first.summary),
        meaning=_in_words(first.meaning),
        variants=tuple(
            (", ".join(text for _, text in alert.labels), tuple(alert.expr.splitlines())) for alert in alerts
        ),
        wait=first.wait,
        steps=tuple(tuple(step.split("`")) for step in _steps(cluster, topic, first)),
        dashboard=dashboard.partition("?")[0] if dashboard else None,
    )


def _steps(cluster: Cluster, topic: str, alert: Alert) -> tuple[str, ...]:
    look = _LOOK_OF.get(alert.name, _LOOK[topic]).replace("{state}", cluster.slurm.state_location)
    last = (
        f"If jobs on the node fail: `scontrol update nodename=NODE state=drain reason='{alert.name}'`. Resume it after"
        " the repair."
        if topic in _ON_A_NODE and "$labels.instance" in alert.summary and alert.name not in _NOT_OF_THE_NODE
        else "The alert ends by itself after the repair. For planned work, set a silence in Alertmanager."
    )
    return look, _in_words(alert.action), last


def _in_words(text: str) -> str:
    """Prometheus' placeholders as <name>: the page is a template of its own, and shows no single alert."""
    return _EXPANDED.sub(r"<\1>", text)
