"""Backups of Slurm: complete or absent, removed by age, restored only to an empty state."""

from __future__ import annotations

import gzip
import os
import pwd
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import slurm_keep
from clustergen.verify import sandbox
from conftest import require_slurm
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import (
    COMPUTE,
    HEAD,
    codes_of,
    lay_out,
    manifest,
    node_files,
    run_script,
    runnable,
    text_of,
    tree_of,
)

SCRIPT = "/usr/local/sbin/clustergen-backup-{}"
DUMP = 'echo "CREATE TABLE x;"; echo "-- Dump completed on 2026-01-01"'
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
STOPPED = {"systemctl": "echo inactive; exit 3"}
RUNNING: dict[str, Any] = {
    "slurm": {"mpi_default": "pmi2"},
    "backups": {"directory": "/srv/backups"},
    "nodes": [HEAD, MONITOR, COMPUTE],
}
CUT = 'PATH=${{PATH#*:}} tar "$@"; [[ $1 != --extract ]] || exit 137'


def script(kind: str, directory: Path, **changes: Any) -> tuple[str, Path]:
    """The program under the name of a kind, for a directory of backups and a state below `directory`."""
    store, state = directory / "store", directory / "state"
    store.mkdir(mode=0o700)
    (state / "hash.0/job.10").mkdir(parents=True)
    for name in ("clustername", "job_state", "job_state.old", "hash.0/job.10/script"):
        (state / name).write_text(name, encoding="utf-8")
    (state / "hash.0/job.10").chmod(0o700)
    slurm = {"version": "24.11", "state_location": "/srv/slurm/state", **changes}
    backups = {"directory": "/srv/backups", "keep_days": 7}
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], slurm=slurm, backups=backups), directory)
    places = {
        "/srv/backups": str(store),
        "/srv/slurm/state": str(state),
        "/etc/slurm/slurmdbd": f"{directory}/slurmdbd",
    }
    places |= {"/var/lib/prometheus/node-exporter": str(directory), "${0##*-}": kind}
    return runnable(tree, "head", SCRIPT.format(kind), directory, places).read_text(encoding="utf-8"), store


def run(kind: str, text: str, directory: Path, *arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
    return run_script(text, {"mariadb-dump": DUMP, "sleep": "", **STOPPED, **programs}, directory, *arguments)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "suffix"), [("database", "sql"), ("state", "tar")])
def test_a_backup_is_private_and_can_be_read_to_its_end(kind: str, suffix: str, tmp_path: Path) -> None:
    text, store = script(kind, tmp_path)
    assert run(kind, text, tmp_path).returncode == 0
    (file,) = store.iterdir()
    assert file.name.startswith(f"small-{kind}-2")
    assert file.name.endswith(f"Z.{suffix}.gz")
    assert file.stat().st_mode & 0o777 == 0o600
    assert run(kind, text, tmp_path, "--check", str(file)).returncode == 0
    file.write_bytes(file.read_bytes()[:-20])  # a disk that filled up
    assert run(kind, text, tmp_path, "--check", str(file)).returncode == 1


@pytest.mark.parametrize("kind", ["database", "state"])
def test_of_two_servers_the_first_makes_backups(kind: str, tmp_path: Path) -> None:
    second = {**HEAD, "name": "head2", "address": "10.0.0.3"}
    slurm = {"version": "24.11", "state_location": "/srv/slurm/state", "state_shared": True}
    slurm["accounting"] = {"database_host": "db.example.org"}
    tree = tree_of(manifest(nodes=[HEAD, second, COMPUTE], slurm=slurm, backups={"directory": "/srv/b"}), tmp_path)
    for host in ("head", "head2"):
        assert "ConditionHost=head\n" in text_of(tree, host, f"/etc/systemd/system/clustergen-backup-{kind}.service")


BAD_DUMPS = {
    "the server goes away": "echo 'CREATE TABLE x;'; exit 2",
    "the dump ends early": "echo 'CREATE TABLE x;'",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_DUMPS)
def test_an_incomplete_dump_leaves_no_file_and_removes_none(case: str, tmp_path: Path) -> None:
    text, store = script("database", tmp_path)
    old = store / "small-database-20200101T000000Z.sql.gz"
    for index in range(4):
        file = old.with_name(f"small-database-2020010{index}T000000Z.sql.gz")
        file.write_bytes(b"")
        os.utime(file, (0, 0))
    before = sorted(store.iterdir())
    done = run("database", text, tmp_path, **{"mariadb-dump": BAD_DUMPS[case]})
    assert done.returncode == 1
    assert "not complete" in done.stderr
    assert sorted(store.iterdir()) == before


@pytest.mark.slow
def test_old_backups_are_removed_but_for_the_last_three(tmp_path: Path) -> None:
    text, store = script("database", tmp_path)
    for age in (30, 20, 9, 8, 6, 1):
        stamp = time.time() - age * 86400
        file = store / time.strftime("small-database-%Y%m%dT%H%M%SZ.sql.gz", time.gmtime(stamp))
        file.write_bytes(b"")
        os.utime(file, (stamp, stamp))
    (store / "small-state-20200101T000000Z.tar.gz").write_bytes(b"")
    # Also kept: files of a cluster named small-database, and those of the directory that a line of a name leads to.
    others = ("notes", "small-database-state-20200101T000000Z.tar.gz", ".small-database-state-20200101T000000Z.1")
    for file in (tmp_path / "file", *(store / name for name in (*others, "small-database-0\n..\nx.gz"))):
        file.write_bytes(b"")
        os.utime(file, (0, 0))
    assert run("database", text, tmp_path).returncode == 0
    assert (tmp_path / "file").exists()
    ages = sorted(round((time.time() - file.stat().st_mtime) / 86400) for file in store.glob("small-database-2*"))
    assert ages == [0, 1, 6]
    assert len(list(store.iterdir())) == 8


@pytest.mark.slow
def test_a_directory_that_is_not_as_expected_is_refused(tmp_path: Path) -> None:
    text, store = script("database", tmp_path)
    store.chmod(0o755)
    done = run("database", text, tmp_path)
    assert (done.returncode, done.stderr.strip()) == (
        1,
        f"refused: {store} has owner and mode {os.geteuid()} 755, not {os.geteuid()} 700",
    )
    store.rmdir()
    done = run("database", text, tmp_path)
    assert done.returncode == 1
    assert "mount its file system" in done.stderr
    assert not store.exists()


@pytest.mark.slow
def test_a_state_file_that_is_being_replaced_is_waited_for(tmp_path: Path) -> None:
    """slurmctld links job_state to job_state.old, and then the new file to job_state."""
    text, store = script("state", tmp_path)
    (tmp_path / "state/job_state").unlink()
    done = run("state", text, tmp_path)
    assert done.returncode == 1
    assert not list(store.iterdir())
    done = run("state", text, tmp_path, sleep=f"echo new >{tmp_path}/state/job_state")
    assert done.returncode == 0, done.stderr
    (file,) = store.iterdir()
    with tarfile.open(file) as archive:
        names = archive.getnames()
    assert names.index("./job_state") < names.index("./hash.0/job.10/script")


@pytest.mark.slow
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    text, store = script("state", tmp_path)
    full = "echo 'gzip: stdout: No space left on device' >&2; exit 1"
    done = run("state", text, tmp_path, gzip=full)
    assert done.returncode == 1
    assert done.stderr.count(": gzip: stdout: No space left on device\n") == 5
    assert "replaced" not in done.stderr
    assert not list(store.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("maker", ["the script", "an upgrade"])
def test_a_state_comes_back_as_it_was_but_only_into_an_empty_directory(maker: str, tmp_path: Path) -> None:
    text, store = script("state", tmp_path)
    if maker == "the script":
        assert run("state", text, tmp_path).returncode == 0
    else:
        user = pwd.getpwuid(os.geteuid()).pw_name
        conf = tmp_path / "slurm.conf"
        conf.write_text(f"StateSaveLocation={tmp_path}/state\nSlurmUser={user}\n", encoding="utf-8")
        slurm_keep.state(str(store), "24.11.5", str(conf))
    (file,) = store.iterdir()
    done = run("state", text, tmp_path, "--restore", str(file))
    assert done.returncode == 1
    assert "is not empty" in done.stderr
    (tmp_path / "state").rename(tmp_path / "before")
    (tmp_path / "state").mkdir()
    running = run("state", text, tmp_path, "--restore", str(file), systemctl="echo active")
    assert "slurmctld is active: stop it first" in running.stderr
    assert not list((tmp_path / "state").iterdir())
    part = tmp_path / "state/.clustergen-restore"
    part.mkdir()
    (part / "job_state").touch()  # of a run that was cut
    killed = run("state", text, tmp_path, "--restore", str(file), tar=CUT.format(tmp_path))
    assert killed.returncode != 0
    assert [path.name for path in (tmp_path / "state").iterdir()] == [part.name]
    (tmp_path / "bin/tar").unlink()
    assert run("state", text, tmp_path, "--restore", str(file)).returncode == 0
    same = subprocess.run(
        ["diff", "-r", tmp_path / "before", tmp_path / "state"], capture_output=True, check=False, timeout=300
    )
    assert same.returncode == 0, same.stdout
    assert (tmp_path / "state/hash.0/job.10").stat().st_mode & 0o777 == 0o700


@pytest.mark.real
@pytest.mark.slow
def test_slurmctld_starts_with_a_restored_state(tmp_path: Path) -> None:
    """A copy made while slurmctld runs has the held job, its script included; root reads its time as that user."""
    tree = cluster(tmp_path, "24.11", **RUNNING)
    box = sandbox.Sandbox(
        require_slurm("24.11").path,
        files=((lay_out(tree, "head", tmp_path / "root"), "/"),),
        empty=("/etc/slurm", "/srv"),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    script = f"""{DAEMONS}
controller
install -d -o slurm -m 0700 /srv/backups
sbatch --hold -n1 --wrap 'echo kept' >/dev/null
for _ in {{1..400}}; do [[ -s /var/lib/slurm/slurmctld/job_state ]] && break; sleep 0.05; done
as() {{ setpriv --reuid slurm --clear-groups "$@"; }}
file=$(as clustergen-backup-state)
mkdir -p /var/lib/prometheus/node-exporter
# Root without these capabilities cannot read the directory, as on a server that maps root to nobody.
setpriv --bounding-set=-dac_override,-dac_read_search clustergen-backup-state --metrics
grep -c '^clustergen_backup.* [0-9]*$' /var/lib/prometheus/node-exporter/clustergen-backup-state.prom
pkill -x slurmctld; while pgrep -x slurmctld >/dev/null; do sleep 0.05; done
mkdir /run/bin; printf '#!/bin/sh\necho inactive\n' >/run/bin/systemctl; chmod +x /run/bin/systemctl
sed -i s,^PATH=,PATH=/run/bin:, /usr/local/sbin/clustergen-backup-state
rm -r /var/lib/slurm/slurmctld/*
as clustergen-backup-state --restore "$file" >/dev/null
rm /run/clustergen/slurmctld.log
controller
squeue --noheader --format='%i %r'; scontrol write batch_script 1 - | tail -n 1
"""
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=300)
    assert done.code == 0, done
    assert done.stdout.replace("\r", "").split("\n")[-4:-1] == ["2", "1 JobHeldUser", "echo kept"], done.stdout


@pytest.mark.slow
def test_a_dump_is_loaded_only_into_a_database_without_tables(tmp_path: Path) -> None:
    text, store = script("database", tmp_path)
    assert run("database", text, tmp_path).returncode == 0
    (file,) = store.iterdir()
    full = run("database", text, tmp_path, "--restore", str(file), mariadb="echo 61")
    assert full.returncode == 1
    assert "has 61 tables" in full.stderr
    loads = f'[[ $* == *--execute* ]] && echo 0 || cat >"{tmp_path}/loaded"'
    assert run("database", text, tmp_path, "--restore", str(file), mariadb=loads).returncode == 0
    assert (tmp_path / "loaded").read_bytes() == gzip.decompress(file.read_bytes())


@pytest.mark.slow
def test_a_password_is_passed_in_a_file_and_not_as_an_argument(tmp_path: Path) -> None:
    accounting = {"database_host": "db.example.org:3307", "database_user": "acct"}
    text, _ = script("database", tmp_path, accounting=accounting)
    (tmp_path / "slurmdbd.secret.conf").write_text('StoragePass=a"b\\c d#\n', encoding="utf-8")
    show = f'cat "${{1#--defaults-extra-file=}}" >{tmp_path}/defaults; {DUMP}'
    done = run("database", text, tmp_path, **{"mariadb-dump": show})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "defaults").read_text(encoding="utf-8") == '[client]\npassword="a\\"b\\\\c d#"\n'
    (call,) = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("mariadb-dump")]
    assert "--user=acct --host=db.example.org --port=3307" in call
    assert "c d#" not in call


@pytest.mark.slow
def test_metrics_have_the_time_of_the_last_backup(tmp_path: Path) -> None:
    text, store = script("state", tmp_path)
    place = tmp_path / "clustergen-backup-state.prom"
    (store / "small-state-20991231T000000Z.tar.gz").touch()  # made while the clock was wrong
    assert run("state", text, tmp_path, "--metrics").returncode == 1
    assert run("state", text, tmp_path).returncode == 0
    assert run("state", text, tmp_path, "--metrics").returncode == 0
    file, _ = sorted(store.iterdir())
    assert place.read_text(encoding="utf-8").splitlines() == [
        "# TYPE clustergen_backup_timestamp_seconds gauge",
        f'clustergen_backup_timestamp_seconds{{backup="state"}} {int(file.stat().st_mtime)}',
        "# TYPE clustergen_backup_size_bytes gauge",
        f'clustergen_backup_size_bytes{{backup="state"}} {file.stat().st_size}',
    ]
    assert place.stat().st_mode & 0o777 == 0o644


@pytest.mark.slow
def test_backups_only_where_the_manifest_wants_them(tmp_path: Path) -> None:
    assert not [path for path in node_files(tree_of(manifest(), tmp_path), "head") if "backup" in path]
    alone = {**HEAD, "roles": ["slurm-controller"]}
    tree = tree_of(manifest(nodes=[alone, COMPUTE], backups={"directory": "/srv/backups"}), tmp_path)
    assert SCRIPT.format("state") in node_files(tree, "head")
    assert SCRIPT.format("database") not in node_files(tree, "head")


@pytest.mark.parametrize(
    ("backups", "code"),
    [
        ({}, "key-missing"),
        ({"directory": "/tmp/backups"}, "path-volatile"),
        ({"directory": "/var/lib/slurm/slurmctld/backups"}, "path-overlap"),
        ({"directory": "/srv/backups", "keep_days": 0}, "value-out-of-range"),
    ],
)
def test_bad_values_are_reported(backups: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of(manifest(backups=backups), tmp_path)
