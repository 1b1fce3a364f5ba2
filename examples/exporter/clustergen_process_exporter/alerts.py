"""Alerts on process-exporter."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.alerts import Alert, Topic
from clustergen_process_exporter.resolved import ProcessExporter


def topic(cluster: Cluster) -> Topic | None:
    if not cluster.has(ProcessExporter):
        return None
    cores = cluster.of(ProcessExporter).cores
    busy = Alert(
        "LoginNodeBusy",
        f"sum by (instance, groupname) (rate(namedprocess_namegroup_cpu_seconds_total[5m])) > {cores}",
        "30m",
        "warning",
        "{{ $labels.groupname }} keeps more than " + f"{cores} cores of " + "{{ $labels.instance }} busy",
        "A user computes on a login node.",
        "Ask the user to submit a job: `loginctl user-status USER` shows the processes.",
    )
    return Topic("process", "Users of login nodes.", (), (busy,), look="Log in: `top`.", page="node")
