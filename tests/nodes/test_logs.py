"""Log messages of nodes are found on the collector, by host and job, also after the collector was down."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

STORE = "/var/log/clustergen"


def test_a_line_of_a_node_is_found_also_after_the_collector_was_down(lab: Lab) -> None:
    say = "logger -t slurm-health -p daemon.err -- 'clustergen: the {} message'"
    find = f"grep -rh 'clustergen: the {{}} message' {STORE}/compute01/*/health.log"
    lab.out("compute01", say.format("first"))
    lab.waits("monitor1", find.format("first"), "compute01 slurm-health: clustergen: the first message")
    lab.out("monitor1", "systemctl stop syslog.socket rsyslog.service")
    try:
        lab.out("compute01", say.format("second"))
    finally:
        lab.out("monitor1", "systemctl start syslog.socket rsyslog.service")
    lab.waits("monitor1", find.format("second"), "compute01 slurm-health: clustergen: the second message")


def test_a_job_is_found_in_the_logs_of_all_nodes(lab: Lab) -> None:
    job = lab.submit("alice", "hostname", "-A", "vision", "--time=5")
    lab.waits("slurm-head", f"sacct -nXP -j {job} -o State", "COMPLETED")
    find = f"grep -rl 'job={job} ' {STORE} | sort | tr '\\n' ' '"
    lab.waits("monitor1", find, rf"compute0\d/[^/]+/slurm\.log .*{STORE}/slurm-head/")


def test_the_store_is_measured(lab: Lab) -> None:
    measure = "systemctl start clustergen-log-retention.service; cat /var/lib/prometheus/node-exporter/logs.prom"
    # Six, and the nodes of other tests, until their logs expire.
    lab.waits("monitor1", measure, r"^clustergen_logs_hosts ([6-9]|\d\d+)$")


def test_a_node_whose_rsyslogd_rejects_new_files_keeps_its_own(lab: Lab) -> None:
    place = "/etc/rsyslog.d/60-clustergen-forward.conf"
    before = lab.out("compute01", f"cat {place}")
    lab.out("compute01", "echo 'module(load=\"omnone\")' >/etc/rsyslog.d/90-site.conf")
    lab.edit(lambda document: document.setdefault("logs", {}).update(queue_size="512MiB"))
    try:
        done = lab.apply("--limit", "compute01")
        after = lab.out("compute01", f"cat {place}")
    finally:
        lab.out("compute01", "rm /etc/rsyslog.d/90-site.conf")
        lab.restore()
    assert done.rc != 0
    assert re.search(r"nothing was changed: rsyslogd rejects these files: .*omnone", done.stdout), done.stdout
    assert after == before
