"""Backups by the timers' units, and the restore of docs/backups.md, command by command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

HEAD = "slurm-head"
STORE = "/srv/backups"
ASSOCIATIONS = "sacctmgr -nP show associations format=cluster,account,parentname,user,share,qos,defaultqos,grptres"


def documented(heading: str) -> str:
    """The commands of a section of the page."""
    page = (Path(__file__).parents[2] / "docs/backups.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {heading}$.*?^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1].replace("/backup/slurm", STORE)


def backed_up(lab: Lab, kind: str) -> str:
    """The name of the backup that the unit has just written."""
    lab.out(HEAD, f"install -d -o slurm -g slurm -m 0700 {STORE}; systemctl start clustergen-backup-{kind}")
    return lab.out(HEAD, f"ls -t {STORE} | grep -- -{kind}- | head -n 1")


def test_the_timers_run_and_the_age_is_exported(lab: Lab) -> None:
    for kind in ("database", "state"):
        assert lab.host(HEAD).service(f"clustergen-backup-{kind}.timer").is_running
        backed_up(lab, kind)
    metrics = lab.out(HEAD, "cat /var/lib/prometheus/node-exporter/clustergen-backup-*.prom")
    assert set(re.findall(r'timestamp_seconds\{backup="(\w+)"\} \d{10}', metrics)) == {"database", "state"}


def test_a_restored_database_has_the_same_associations(lab: Lab) -> None:
    file = backed_up(lab, "database")
    before = lab.out(HEAD, ASSOCIATIONS)
    assert "vision" in before
    refused = lab.run(HEAD, f"runuser -u slurm -- clustergen-backup-database --restore {STORE}/{file}")
    assert "slurmdbd is active: stop it first" in refused.stderr
    lab.out(HEAD, "sacctmgr -i delete user bob where account=vision")
    assert lab.out(HEAD, ASSOCIATIONS) != before
    script = documented("Restore the database").replace("FILE.sql.gz", file)
    listens = "until sacctmgr -n show cluster >/dev/null 2>&1; do sleep 0.5; done"
    lab.out(HEAD, f"set -e; {script.replace('sacctmgr show', f'{listens}; sacctmgr show')}", timeout=120)
    assert lab.out(HEAD, ASSOCIATIONS) == before


def test_a_restored_state_has_the_same_jobs(lab: Lab) -> None:
    job = lab.submit("alice", "true", "--hold", "-p gpu-training", "--comment=to-be-restored")
    saved = f"cd /var/lib/slurm/slurmctld && ls -d hash.{int(job) % 10}/job.{job} && grep -c to-be-restored job_state"
    lab.waits(HEAD, saved, r"job[.]\d+\s+[1-9]")
    file = backed_up(lab, "state")
    lab.out(HEAD, f"set -e; {documented('Restore the state of slurmctld').replace('FILE.tar.gz', file)}", timeout=120)
    assert f"JobId={job} " in lab.waits(HEAD, f"scontrol show job {job}", "JobState=PENDING")
    lab.out(HEAD, "rm -r /var/lib/slurm/damaged")
    lab.clear()
