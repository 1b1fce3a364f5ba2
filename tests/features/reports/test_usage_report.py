"""Usage reports: sums of jobs within the period, and names that no file misreads."""

from __future__ import annotations

import csv
import io
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from conftest import require_slurm
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import COMPUTE, HEAD, codes_of, lay_out, manifest, node_files, runnable, text_of, tree_of

SCRIPT = "/usr/local/sbin/clustergen-usage-report"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
DAY = 86400
BEGIN = 1767225600  # 2026-01-01 UTC
# As `sreport -P -t seconds cluster Utilization` of Slurm 24.11 prints it.
SREPORT = """\
--------------------------------------------------------------------------------
Cluster Utilization 2026-01-01T00:00:00 - 2026-01-02T23:59:59 (172800 secs)
Usage reported in TRES Seconds
--------------------------------------------------------------------------------
Cluster|TRES Name|Allocated|Down|PLND Down|Idle|Planned|Reported
small|cpu|360000|36000|0|324000|0|720000
small|gres/gpu|72000|3600|0|10800|0|86400
"""


def record(*fields: object) -> str:
    return "\x1f".join(map(str, fields))


def job(number: int, account: str, user: str, start: int, end: object, **more: object) -> str:
    elapsed = (end if isinstance(end, int) else BEGIN + 2 * DAY) - start
    tres = more.get("tres", "billing=64,cpu=64,gres/gpu:h100=8,gres/gpu=8,mem=1T,node=1")
    state, limit, cpu = more.get("state", "COMPLETED"), more.get("limit", 120), more.get("cpu", "00:00:00")
    return record(number, account, user, state, start, end, elapsed, limit, tres, cpu)


def run(directory: Path, jobs: str, sreport: str = SREPORT, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The script asked for 1 and 2 January 2026, in a world whose clocks show UTC; without `jobs`, sacct fails."""
    prices = {"prices": {"currency": "EUR", "gpu_hour": 2.5}}
    data = manifest(nodes=[HEAD, MONITOR, COMPUTE], reports={"period": "week"}, facility=prices)
    script = runnable(tree_of(data, directory), "head", SCRIPT, directory)
    programs = directory / "bin"
    programs.mkdir()
    for name, text in (("sacct", jobs), ("sreport", sreport)):
        (directory / name).write_text(text, encoding="utf-8")
        (programs / name).write_text(
            f'#!/bin/sh\necho "$SLURM_TIME_FORMAT $*" >>{directory}/calls\ngrep . {directory}/{name}\n'
        )
        (programs / name).chmod(0o755)
    out = directory / "out"
    out.mkdir(exist_ok=True)
    words = [sys.executable, str(script), "--from", "2026-01-01", "--to", "2026-01-02", "--directory", str(out)]
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "TZ": "UTC", "LANG": "C"}
    return subprocess.run([*words, *arguments], env=env, capture_output=True, text=True, timeout=300, check=False)


def report(directory: Path, jobs: str) -> dict[str, str]:
    """Suffix → text of what the script wrote."""
    done = run(directory, jobs)
    assert done.returncode == 0, done.stderr
    return {path.suffix: path.read_text(encoding="utf-8") for path in (directory / "out").iterdir()}


def test_of_two_controllers_the_first_reports(tmp_path: Path) -> None:
    second = {**HEAD, "name": "head2", "address": "10.0.0.3", "roles": ["slurm-controller"]}
    slurm = {"version": "24.11", "state_location": "/srv/slurm", "state_shared": True}
    tree = tree_of(manifest(nodes=[HEAD, second, COMPUTE], slurm=slurm, reports={"period": "week"}), tmp_path)
    for host in ("head", "head2"):
        unit = text_of(tree, host, "/etc/systemd/system/clustergen-usage-report.service")
        assert "ConditionHost=head\n" in unit


@pytest.mark.slow
def test_hours_are_those_within_the_period(tmp_path: Path) -> None:
    jobs = [
        job(1, "vision", "alice", BEGIN - 3600, BEGIN + 3600, cpu="1-16:00:00"),  # half of it
        job(2, "vision", "alice", BEGIN + 2 * DAY - 1800, "Unknown", state="RUNNING"),
        job(3, "vision", "bob", BEGIN, BEGIN + 7200, state="FAILED"),
        job(4, "vision", "bob", BEGIN, BEGIN + 1800, state="CANCELLED by 1000", tres="cpu=2", limit="UNLIMITED"),
        record(5, "vision", "carol", "PENDING", "Unknown", "Unknown", 0, 60, "", "00:00:00"),
    ]
    files = report(tmp_path, "\n".join(jobs) + "\n")
    rows = list(csv.DictReader(io.StringIO(files[".csv"])))
    assert [(row["account"], row["user"], row["jobs"]) for row in rows] == [
        ("vision", "bob", "2"),
        ("vision", "alice", "2"),
    ]
    assert [(row["gpu_hours"], row["failed_gpu_hours"]) for row in rows] == [("16.0", "16.0"), ("12.0", "0.0")]
    assert rows[1]["cpu_hours"] == "96.0"
    assert rows[1]["cpu_efficiency"] == str(round(20 / 96, 4))
    assert rows[0]["time_limit_used"] == "1.0"
    assert "| gres/gpu | 20.0 h | 3.0 h | 1.0 h | 87 % |" in files[".md"]
    assert "| vision | bob | 2 | 16.0 |" in files[".md"]
    assert [row["price"] for row in rows] == ["40.0", "30.0"]
    assert "| price (EUR) |" in files[".md"]
    assert "Sum: 70.00 EUR, at 2.5 EUR for one GPU and hour." in files[".md"]


@pytest.mark.slow
def test_names_stay_in_their_cells(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "a|b", "*_[x](http://evil)", "-2+3", "@sum", "<script>", 'quo"te\\', "x\ty"]
    jobs = "\n".join(job(number, name, name, BEGIN, BEGIN + 3600) for number, name in enumerate(names))
    late = job(99, "vision", "late", BEGIN, BEGIN + 3600, cpu="no time")
    files = report(tmp_path, f"{jobs}\nbroken record\n{record(*'123456789')}\n{late}\n")
    rows = list(csv.reader(io.StringIO(files[".csv"])))
    assert len(rows) == 1 + len(names)
    assert not [cell for row in rows for cell in row if cell[:1] in "=+-@" and cell[:1]]
    table = [line for line in files[".md"].splitlines() if line.startswith("|")]
    assert all(line.replace("\\\\", "").replace("\\|", "").count("|") in (6, 10) for line in table)
    assert "<script>" not in files[".md"]
    assert "](http" not in files[".md"]
    assert "3 records of sacct could not be read" in files[".md"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "arguments", "message"),
    [
        ("", (), "failed: sacct ended with exit status 1\n"),
        ("x", ("--to", "9999-12-31"), "error: --from and --to have to be within the years 2 to 9998\n"),
    ],
)
def test_a_failed_command_is_named_in_a_line(
    jobs: str, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = run(tmp_path, jobs, SREPORT, *arguments)
    assert done.returncode in (1, 2)
    assert done.stderr.endswith(message)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_no_planted_link_is_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept", encoding="utf-8")
    (tmp_path / "out").mkdir()
    for suffix in (".csv", ".csv.new", ".md"):
        (tmp_path / "out" / f"2026-01-01_2026-01-02{suffix}").symlink_to(victim)
    report(tmp_path, job(1, "vision", "alice", BEGIN, BEGIN + 3600))
    assert victim.read_text(encoding="utf-8") == "kept"


@pytest.mark.real
def test_metrics_are_what_prometheus_reads(tmp_path: Path) -> None:
    """The functions of the script, with more users than get series of their own, and names that need quoting."""
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], reports={}), tmp_path)
    names = runpy.run_path(str(runnable(tree, "head", SCRIPT, tmp_path)))
    jobs = [job(n, 'q"\\', f"user{n}\n" if n == 7 else f"user{n}", BEGIN, BEGIN + 3600) for n in range(300)]
    rows, unreadable = names["usage"]("\n".join(jobs), BEGIN, BEGIN + DAY)
    assert unreadable == 2, "a user with a line break makes two broken records"
    text = names["metrics"](rows, names["utilization"](SREPORT), BEGIN, BEGIN + DAY)
    assert text.count("clustergen_usage_gpu_hours{") == 201
    assert 'clustergen_usage_gpu_hours{account="",user="",period="week"} 792.0' in text
    assert 'clustergen_usage_state_hours{resource="gres/gpu",state="allocated",period="week"} 20.000' in text
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    words = ["/bin/sh", "-c", "promtool check metrics </run/clustergen/metrics || [ $? = 3 ]"]
    done = sandbox.run(sandbox.Sandbox(root, is_one_user=True), words, timeout=300, notes={"metrics": text})
    assert done.code == 0, done


@pytest.mark.slow
def test_reports_only_where_the_manifest_wants_them(tmp_path: Path) -> None:
    assert SCRIPT not in node_files(tree_of(manifest(), tmp_path), "head")
    tree = tree_of(manifest(reports={"period": "month"}), tmp_path)
    assert "OnCalendar=*-*-01 01:30:00" in text_of(tree, "head", "/etc/systemd/system/clustergen-usage-report.timer")
    assert "ConditionHost=head" in text_of(tree, "head", "/etc/systemd/system/clustergen-usage-report.service")


@pytest.mark.parametrize(
    ("reports", "code"),
    [({"period": "year"}, "value-not-allowed"), ({"every": "day"}, "key-unknown"), ([], "type-wrong")],
)
def test_bad_values_are_reported(reports: object, code: str, tmp_path: Path) -> None:
    assert code in codes_of(manifest(reports=reports), tmp_path)


def answer(release: str, directory: Path, script: str) -> str:
    """Output of a script on a head node with slurmctld, slurmdbd and its database."""
    slurm = require_slurm(release)
    tree = cluster(directory, release, slurm={"mpi_default": "pmi2"}, reports={"period": "day"})
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", directory / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    done = sandbox.run(box, ["/bin/bash", "-c", f"{DAEMONS}\ncontroller\n{script}"], timeout=300)
    assert done.code == 0, done
    return done.stdout.replace("\r", "")


@pytest.mark.real
@pytest.mark.slow
def test_the_real_sacct_and_sreport_accept_the_questions(tmp_path: Path) -> None:
    script = f"TZ=UTC {SCRIPT} --from 2026-01-01 --to 2026-01-01 --directory /tmp/out >/dev/null && cat /tmp/out/*"
    text = answer("24.11", tmp_path, script)
    assert "account,user,jobs" in text
    assert "could not be read" not in text
    assert "price" not in text


@pytest.mark.real
@pytest.mark.slow
def test_a_job_of_the_real_database_is_summed_up(tmp_path: Path) -> None:
    """A job that ran, as a row of the table of Slurm 22.05, whose root has no Python: its sacct answers alone."""
    tree = tree_of(manifest(reports={}), tmp_path)
    names = runpy.run_path(str(runnable(tree, "head", SCRIPT, tmp_path)))
    script = rf"""
sacctmgr -i add account vision >/dev/null; sacctmgr -i add user alice account=vision >/dev/null
sql() {{ mariadb --socket=/run/mysqld/mysqld.sock slurm_acct_db -Ne "$1"; }}
assoc=$(sql "select id_assoc from small_assoc_table where user='alice'")
sql "set sql_mode=''; insert into small_job_table set account='vision', id_assoc=$assoc, id_job=4711, id_user=1,
  cpus_req=4, job_name='=cmd|x', nodelist='c1', state=3, timelimit=120, time_submit={BEGIN}, time_eligible={BEGIN},
  nodes_alloc=1, time_start={BEGIN}, time_end={BEGIN + 3600}, \`partition\`='main', tres_alloc='1=4,4=1',
  tres_req='1=4,4=1'"
SLURM_TIME_FORMAT=%s TZ=UTC sacct --allusers --allocations --noheader --parsable2 --delimiter=$'\x1f' --duplicates \
  --starttime=2026-01-01T00:00:00 --endtime=2026-01-02T00:00:00 --format={",".join(names["FIELDS"])}
"""
    rows, unreadable = names["usage"](answer("22.05", tmp_path, script), BEGIN, BEGIN + DAY)
    assert (rows, unreadable) == ([("vision", "alice", 1, 0.0, 4.0, 0.0, 0.0, 0.5, 0.0)], 0)
