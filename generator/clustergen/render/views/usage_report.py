"""Usage reports: a timer on the primary controller sums up what sacct and sreport know of a period."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import File
from clustergen.render.formats import PYTHON
from clustergen.render.views.exporters import node_exporter

_SCRIPT = "/usr/local/sbin/clustergen-usage-report"
_TEXTFILE = "usage.prom"
METRICS = (
    "clustergen_usage_gpu_hours",
    "clustergen_usage_cpu_hours",
    "clustergen_usage_failed_gpu_hours",
    "clustergen_usage_jobs",
    "clustergen_usage_state_hours",
    "clustergen_usage_begin_timestamp_seconds",
    "clustergen_usage_end_timestamp_seconds",
)
"""What the script writes for node_exporter."""
_CALENDAR = {"day": "*-*-* 01:30:00", "week": "Mon *-*-* 01:30:00", "month": "*-*-01 01:30:00"}


@record
class UsageReport:
    """The script, when it runs, and on which of the controllers. `file`: metrics, empty for none."""

    script: str
    period: str
    calendar: str
    host: str
    cluster: str
    file: str


def is_made(cluster: Cluster) -> bool:
    return cluster.manifest.reports is not None and cluster.keeps_books


def usage_report(cluster: Cluster, os: OperatingSystem) -> UsageReport | None:
    reports = cluster.manifest.reports
    if reports is None or not is_made(cluster):
        return None
    return UsageReport(
        script=_SCRIPT,
        period=reports.period,
        calendar=_CALENDAR[reports.period],
        host=cluster.controllers[0],
        cluster=cluster.slurm_name,
        file=f"{os.fact('node_exporter_textfile_dir')}/{_TEXTFILE}" if node_exporter(cluster, os) else "",
    )


def usage_report_unit(cluster: Cluster) -> UsageReport | None:
    return usage_report(cluster, cluster.os)


_UNIT = "slurm_controller/etc/systemd/system/clustergen-usage-report"
FILES = (
    File(f"slurm_controller{_SCRIPT}", usage_report, mode=0o755, per="os", format=PYTHON),
    File(f"{_UNIT}.service", usage_report_unit, DAEMON_RELOAD),
    File(f"{_UNIT}.timer", usage_report_unit, restart("clustergen-usage-report.timer")),
)
