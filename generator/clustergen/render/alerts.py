"""The shapes of alerting rules, and what a cluster's own rules are made from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from clustergen.cluster.contributions import Sampling
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring, Prometheus, Scraping
from clustergen.cluster.slurm.keys.table import switches_nodes_off
from clustergen.records import record

Severity = Literal["critical", "warning", "watchdog"]
Labels = tuple[tuple[str, str], ...]
BLANK_COUNT = "1e14"  # DCGM's blank values of 32-bit and floating-point fields start above
BLANK_TIME = "9e18"  # and that of 64-bit fields here
WHERE = "GPU {{ $labels.gpu }} of {{ $labels.instance }}"
DEVICE = "{{ $labels.device }} of {{ $labels.instance }}"
_DCGM = re.compile(r"\bDCGM_(?:FI|EXP)_[A-Z0-9_]+")


@record
class Recording:
    """A series that rules are written on: `name` is `level:metric:operation`."""

    name: str
    expr: str


@record
class Alert:
    """One alert. `meaning` says what is wrong, `action` what to do, with commands in backticks; texts may hold
    Prometheus' `{{ $labels.x }}`. `look` and `page` stand instead of those of its topic; a page may have variables.

    `works`: what goes on meanwhile, where a runbook begins; without it, that of the topic.
    `labels` tell alerts of one name apart: Alertmanager takes those with the same labels for one alert.
    """

    name: str
    expr: str
    wait: str  # how long the expression must hold
    severity: Severity
    summary: str
    meaning: str
    action: str
    labels: Labels = ()
    look: str = ""
    page: str = ""
    works: str = ""


@record
class Topic:
    """One rule file. `look`: where a runbook begins, with commands in backticks. `page`: slug of the dashboard that
    shows what the alerts are about. `drains`: jobs may fail on the node that an alert names. `place`: on the page of
    runbooks; those without one are last, by name.
    """

    name: str
    title: str
    recordings: tuple[Recording, ...]
    alerts: tuple[Alert, ...]
    look: str = ""
    page: str = ""
    drains: bool = False
    works: str = ""
    place: int = 1000

    def dcgm_fields(self) -> list[str]:
        """The DCGM fields that its expressions read, in order of appearance."""
        text = "\n".join([rule.expr for rule in self.recordings] + [rule.expr for rule in self.alerts])
        return list(dict.fromkeys(_DCGM.findall(text)))


RUNBOOKS = "runbooks.html"
"""The page with all of them, which Prometheus serves."""


def prometheus_url(cluster: Cluster) -> str:
    return f"http://{cluster.of(Monitoring).hosts[0]}:{cluster.of(Prometheus).port}"


def runbook(cluster: Cluster, alert: str) -> str:
    """The URL of an alert's runbook. Only where Prometheus runs."""
    return f"{prometheus_url(cluster)}/consoles/{RUNBOOKS}#{alert}"


def for_types(names: Iterable[str]) -> Labels:
    """The suffix that tells the alert for these node types from that for others."""
    return (("node_types", ", ".join(names)),)


def one_of(values: list[str]) -> str:
    """A PromQL matcher's value for several words: `=~"a|b"`, or `="a"` for one."""
    return f'="{values[0]}"' if len(values) == 1 else f'=~"{"|".join(values)}"'


def by_instance(series: str, label: str, *others: str, by: str = "max") -> str:
    """Series of Slurm's script, which each controller writes, with `label` as the instance that alerts are about."""
    names = ", ".join((label, *others))
    replaced = f'label_replace({by} by ({names}) ({series}), "instance", "$1", "{label}", "(.*)")'
    return f"{by} by ({', '.join(('instance', *others))}) ({replaced})"


def unless_asleep(cluster: Cluster) -> str:
    """Behind an expression by `instance`: not for nodes that power saving has switched off or is switching."""
    if not switches_nodes_off(cluster):
        return ""
    return f" unless on (instance) {by_instance('clustergen_slurm_node_asleep', 'node')}"


def window(cluster: Cluster, minutes: int) -> str:
    """A range for rates: that long, and long enough to hold four samples."""
    slowest_s = max(cluster.of(Scraping).interval_s, *(exporter.interval_s for exporter in cluster.needs(Sampling)), 0)
    return f"{max(minutes, -(-4 * slowest_s // 60))}m"
