"""Runbooks: a page that Prometheus serves, with the meaning, the measurement and the first steps of each alert."""

from __future__ import annotations

import re

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.views import grafana
from clustergen.render.views.alerts import topics
from clustergen.render.views.alerts.gpu import IDLE_ALERT
from clustergen.render.views.alerts.model import Alert

_EXPANDED = re.compile(r"\{\{\s*\$(?:labels\.)?(\w+)[^}]*\}\}")
_LOOK = {
    "cluster": "See the cluster overview.",
    "gpu": "On the node: nvidia-smi -q and journalctl -k --grep 'NVRM|Xid' show the state of its GPUs.",
    "node": "ssh to the node, or open the console of its BMC. journalctl -p warning --since -1h shows what happened.",
    "slurm": "On a controller: sinfo -R, scontrol show node NODE, and the end of slurmctld's log.",
    "fabric": "On the node: ibstat or rdma link, and ethtool of the port. Compare the counters of the switch port.",
    "storage": "On the node: mount, df and journalctl -k show whether the file system responds.",
    "kernel": "On the node: journalctl -k --since -1h. The log collector has the same lines in kernel.log.",
    "disks": "On the node: smartctl --xall DEVICE, and journalctl -k for errors of the device.",
    "probes": "From the monitoring node, connect by hand: ssh HOST, or curl -v of the page.",
    "sensors": "On the node: ipmi-sensors, and ipmi-sel for the event log of the BMC.",
    "power": "Compare the rack with others, and with the time before.",
    "snmp": "The web page of the device shows its state and its log; compare it with the dashboard.",
    "logs": "On the log collector: du -s /var/log/clustergen/* and journalctl -t clustergen-logs.",
    "expiry": "openssl x509 -noout -enddate -in FILE shows the date of a certificate.",
    "backups": "On the controller: systemctl list-timers 'clustergen-*'; journalctl -u SERVICE shows why one failed.",
    "drift": "On the controller: journalctl -u clustergen-drift shows the last report.",
    "pull": "On the node: journalctl -u clustergen-pull names the reason of the last run that failed.",
    "meta": "The pages /targets, /rules and /config of Prometheus show its state.",
}
_LOOK_OF = {
    IDLE_ALERT: "On a controller: scontrol show job JOB names its user, command and output file.",
    "RackDown": "Ping the nodes and their BMCs: if neither answers, it is the power or the switch of the rack.",
    "RackFeedLost": "The dashboard shows the rack's power; on a node, ipmi-sensors shows which supply has no input.",
    "SlurmctldUnreachable": "On each controller: scontrol ping, systemctl status slurmctld, df of StateSaveLocation.",
    "SlurmMetricsMissing": "The page /targets of Prometheus shows whether the controllers answer.",
    "SlurmdbdBacklog": "On a controller: sdiag shows the DBD Agent queue size; on slurmdbd's node: the end of its log.",
    "SlurmJobsStuck": "On a controller: squeue --states=COMPLETING.",
}
"""First steps of alerts that their topic's does not suit."""
_NOT_OF_THE_NODE = (IDLE_ALERT,)
_ON_A_NODE = ("gpu", "node", "fabric", "storage", "kernel", "disks", "sensors")


@record
class Runbook:
    """One alert in words, with placeholders in angle brackets. `variants`: labels, and lines of the expression."""

    name: str
    severity: str
    summary: str
    meaning: str
    variants: tuple[tuple[str, tuple[str, ...]], ...]
    wait: str
    steps: tuple[str, ...]
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
        steps=_steps(topic, first),
        dashboard=dashboard.partition("?")[0] if dashboard else None,
    )


def _steps(topic: str, alert: Alert) -> tuple[str, ...]:
    last = (
        f"If jobs on the node fail: scontrol update nodename=NODE state=drain reason='{alert.name}'. Resume it after"
        " the repair."
        if topic in _ON_A_NODE and "$labels.instance" in alert.summary and alert.name not in _NOT_OF_THE_NODE
        else "The alert ends by itself after the repair. For planned work, set a silence in Alertmanager."
    )
    return _LOOK_OF.get(alert.name, _LOOK[topic]), _in_words(alert.action), last


def _in_words(text: str) -> str:
    """Prometheus' placeholders as <name>: the page is a template of its own, and shows no single alert."""
    return _EXPANDED.sub(r"<\1>", text)
