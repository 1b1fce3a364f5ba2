"""The usage report, of what the real sacct and sreport print about a job that ran."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]


def test_a_job_is_in_the_report_of_its_user(lab: Lab) -> None:
    job = lab.submit("alice", "sleep 2", "-A", "vision", "--gpus=2", "--time=5")
    lab.waits("slurm-head", f"sacct -nXP -j {job} -o State", "COMPLETED")
    report = 'day=$(date +%F); cd "$(mktemp -d)"; clustergen-usage-report --from "$day" --to "$day" --directory .'
    lab.waits("slurm-head", f"{report} >/dev/null && cat *.csv", "vision,alice,")
    rows = list(csv.DictReader(io.StringIO(lab.out("slurm-head", f"{report} >/dev/null && cat *.csv"))))
    row = next(row for row in rows if (row["account"], row["user"]) == ("vision", "alice"))
    assert int(row["jobs"]) >= 1
    assert 0 < float(row["gpu_hours"]) < 100
    assert f"| vision | alice | {row['jobs']} |" in lab.out("slurm-head", f"{report} >/dev/null && cat *.md")


def test_the_timer_writes_the_last_week_and_its_metrics(lab: Lab) -> None:
    lab.out("slurm-head", "systemctl start clustergen-usage-report.service", timeout=120)
    assert lab.out("slurm-head", "ls /var/lib/clustergen-reports").count(".md") == 1
    lab.out("slurm-head", "grep clustergen_usage_end_timestamp_seconds /var/lib/prometheus/node-exporter/usage.prom")
    assert lab.out("slurm-head", "systemctl is-active clustergen-usage-report.timer") == "active"
