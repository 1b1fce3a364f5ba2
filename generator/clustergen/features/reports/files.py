"""Usage reports: a timer on the primary controller sums up what sacct and sreport know of a period."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.reports.resolved import Reports, is_made
from clustergen.records import record
from clustergen.render.timers import timed

_SCRIPT = "/usr/local/sbin/clustergen-usage-report"
_TEXTFILE = "usage.prom"
_CALENDAR = {"day": "*-*-* 01:30:00", "week": "Mon *-*-* 01:30:00", "month": "*-*-01 01:30:00"}


@record
class Values:
    """The program's: `metrics_file` is empty for none, and so is `currency` without a price."""

    period: str
    cluster: str
    metrics_file: str
    currency: str
    gpu_hour: float  # price of one GPU for an hour


@record
class Units:
    """When the program runs, and on which of the controllers."""

    script: str
    period: str
    calendar: str
    host: str


def values(cluster: Cluster, os: OperatingSystem) -> Values | None:
    if not is_made(cluster):
        return None
    prices = cluster.of(Facility).prices
    currency, gpu_hour = (prices.currency, prices.gpu_hour) if prices and prices.gpu_hour else ("", 0.0)
    metrics_file = textfile(cluster, os, _TEXTFILE)
    return Values(cluster.of(Reports).period, cluster.slurm.cluster_name, metrics_file, currency, gpu_hour)


def units(cluster: Cluster) -> Units | None:
    if not is_made(cluster):
        return None
    period = cluster.of(Reports).period
    return Units(_SCRIPT, period, _CALENDAR[period], cluster.slurm.controllers[0])


FILES = tuple(timed("slurm_controller", "usage/clustergen-usage-report.py", values, units))
