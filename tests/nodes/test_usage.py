"""A usage report of jobs that ran: what slurmdbd recorded, as Markdown, as CSV and as node_exporter's metrics."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

SCRIPT = "/usr/local/sbin/clustergen-usage-report"
SPAN = "--from $(date -I -d yesterday) --to $(date -I -d tomorrow) --directory /tmp/reports"
METRICS = "/var/lib/prometheus/node-exporter/usage.prom"
PAGE = """python3 -c 'import urllib.request as r; print(r.urlopen("http://localhost:9100/metrics").read().decode())'"""
GPUS = 16
# The script on the next day: then the day of the job is the last complete one.
NEXT_DAY = """
import datetime, runpy, sys
day = datetime.date.fromisoformat(sys.argv.pop())
class Date(datetime.date):
    @classmethod
    def today(cls):
        return day + datetime.timedelta(days=1)
datetime.date = Date
runpy.run_path(sys.argv.pop(), run_name="__main__")
"""


@pytest.fixture(autouse=True)
def cleared(lab: Lab) -> Iterator[None]:
    yield
    lab.clear()
    lab.out("slurm-head", f"rm -rf /tmp/reports /var/lib/clustergen-reports {METRICS}")


def row(text: str, user: str) -> dict[str, float]:
    """The sums of a user in a CSV report, zeros where there is no row."""
    names = ("jobs", "gpu_hours", "failed_gpu_hours")
    sums = [one for one in csv.DictReader(io.StringIO(text)) if one["user"] == user]
    return {name: sum(float(one[name]) for one in sums) for name in names}


def test_a_job_that_ran_is_in_the_report(lab: Lab) -> None:
    show = f"{SCRIPT} {SPAN} >/dev/null && cat /tmp/reports/*.csv"
    before = row(lab.out("slurm-head", show), "carol")
    job = lab.submit("carol", "sleep 30; exit 3", f"-N2 --gpus-per-node={GPUS // 2}")
    ended = lab.waits("slurm-head", f"sacct -X -n -P -j {job} -o State,ElapsedRaw,End,Account", "^FAILED")
    _, elapsed, end, account = ended.split("|")
    after = row(lab.out("slurm-head", show), "carol")
    hours = GPUS * int(elapsed) / 3600
    assert after["jobs"] - before["jobs"] == 1
    assert after["gpu_hours"] - before["gpu_hours"] == pytest.approx(hours, abs=0.011)
    assert after["failed_gpu_hours"] - before["failed_gpu_hours"] == pytest.approx(hours, abs=0.011)
    assert re.search(
        rf"^\| {account} \| carol \| {after['jobs']:.0f} \|",
        lab.out("slurm-head", "cat /tmp/reports/*.md"),
        re.MULTILINE,
    )
    assert lab.out("slurm-head", "systemctl is-active clustergen-usage-report.timer") == "active"
    lab.out("slurm-head", "systemctl start clustergen-usage-report.service")  # as the timer does: of the day before
    lab.out("slurm-head", f"python3 -c '{NEXT_DAY}' {SCRIPT} {end.partition('T')[0]}")
    sample = f'clustergen_usage_jobs{{account="{account}",period="day",user="carol"}}'
    served = lab.waits("slurm-head", f"{PAGE} | grep ^clustergen_usage", re.escape(sample))
    samples = dict(line.rpartition(" ")[::2] for line in served.splitlines())
    assert float(samples[sample]) >= 1
    assert float(samples[sample.replace("_jobs", "_failed_gpu_hours")]) >= round(hours, 2) - 0.011
    assert len(lab.out("slurm-head", "ls /var/lib/clustergen-reports").split()) == 4
