"""Units, accounts, directories, options and access of Slurm's daemons, read by systemd and its tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.sandbox import Outcome
from clustergen.verify.slurm_roots import SlurmInstall, root_with
from strategies.slurm_trees import cluster, gpu_type, lines, roles, settings
from strategies.trees import COMPUTE, HEAD, lay_out, node_files, text_of

STORAGE: dict[str, Any] = {
    "home": {"type": "nfs", "server": "10.0.0.250", "path": "/h", "mount": "/home"},
    "extra": {"type": "nfs", "server": "10.0.0.250", "path": "/e", "mount": "/extra", "required": False},
    "state": {"type": "nfs", "server": "10.0.0.250", "path": "/s", "mount": "/state", "clients": ["slurm-controller"]},
}
LOGIN = roles("login", name="login1", address="10.0.0.5")
PYXIS = {"pyxis": {"enabled": True, "cache": "/raid/enroot"}}


def ask(tree: Tree, host: str, directory: Path, *program: str) -> Outcome:
    root = root_with("logrotate" if program[0] in ("sh", "bash") else program[0])
    assert root is not None, f"clustergen setup parsers makes a root with {program[0]}"
    box = sandbox.Sandbox(root, files=((lay_out(tree, host, directory / host), "/"),), hostname=host)
    return sandbox.run(box, program, timeout=300)


@pytest.mark.real
@pytest.mark.parametrize(("host", "units"), [("head", ("slurmctld", "slurmdbd")), ("c1", ("slurmd",))])
def test_systemd_reads_the_drop_ins(host: str, units: tuple[str, ...], tmp_path: Path) -> None:
    tree = cluster(tmp_path, storage=STORAGE, slurm={"state_location": "/state/slurm"})
    slurm_report = ask(tree, host, tmp_path, "systemd-analyze", "verify", *(f"{unit}.service" for unit in units))
    assert not [line for line in slurm_report.stderr.splitlines() if "clustergen" in line or "Unknown" in line], (
        slurm_report.stderr
    )


def unit_lines(tree: Tree, host: str, unit: str) -> list[str]:
    items = []
    for path, file in sorted(node_files(tree, host).items()):
        if path.startswith(f"/etc/systemd/system/{unit}.service.d/"):
            items += file.content.decode().splitlines()
    return items


def test_slurmd_waits_for_what_jobs_need_and_nothing_else(tmp_path: Path) -> None:
    texts = unit_lines(cluster(tmp_path, storage=STORAGE), "c1", "slurmd")
    assert [line for line in texts if line.startswith("PartOf")] == ["PartOf=home.mount"]
    assert {"LimitMEMLOCK=infinity", "Delegate=yes", "KillMode=process"} <= set(texts)


def test_slurmctld_waits_for_its_state(tmp_path: Path) -> None:
    texts = unit_lines(
        cluster(tmp_path, storage=STORAGE, slurm={"state_location": "/state/slurm"}), "head", "slurmctld"
    )
    assert "PartOf=state.mount" in texts
    assert not [line for line in unit_lines(cluster(tmp_path), "head", "slurmctld") if ".mount" in line]


@pytest.mark.real
def test_the_account_has_the_manifests_number(tmp_path: Path) -> None:
    tree = cluster(tmp_path, slurm={"user": "slurmer", "uid": 951})
    done = ask(tree, "c1", tmp_path, "systemd-sysusers", "--dry-run", "/etc/sysusers.d/clustergen-slurm.conf")
    assert done.code == 0, done.stderr
    assert "slurmer" in done.stdout + done.stderr
    assert "951" in done.stdout + done.stderr
    assert node_files(tree, "head")["/etc/slurm/slurmdbd.conf"].owner == "slurmer"


@pytest.mark.real
@pytest.mark.parametrize("host", ["head", "c1"])
def test_the_directories_can_be_made(host: str, tmp_path: Path) -> None:
    tree = cluster(tmp_path, slurm={**PYXIS, "scripts": {"tmpdir": "/scratch"}})
    files = [path for path in node_files(tree, host) if path.startswith("/etc/tmpfiles.d/clustergen-")]
    old = "mkdir -p /raid/enroot/data && chmod 1777 /raid/enroot/data"  # where all users wrote
    show = f"{old} && systemd-sysusers && systemd-tmpfiles --create {' '.join(files)}"
    paths = {
        "head": "/var/log/slurm /var/lib/slurm/slurmctld",
        "c1": "/var/log/slurmd /var/lib/slurm/slurmd /scratch /raid/enroot/data",
    }
    root = root_with("systemd-tmpfiles")
    assert root is not None
    box = sandbox.Sandbox(root, files=((lay_out(tree, host, tmp_path / host), "/"),))
    done = sandbox.run(box, ["sh", "-c", f"{show} && stat -c '%U %a' {paths[host]}"], timeout=300)
    assert done.code == 0, done.stderr
    expected = {"head": ["slurm 755", "slurm 700"], "c1": ["root 755", "root 755", "root 755", "root 755"]}
    assert done.stdout.splitlines() == expected[host]


def test_a_state_directory_on_a_mounted_file_system_is_not_made_below_it(tmp_path: Path) -> None:
    tree = cluster(tmp_path, storage=STORAGE, slurm={"state_location": "/state/slurm"})
    assert "/state" not in text_of(tree, "head", "/etc/tmpfiles.d/clustergen-slurmctld.conf")
    made = "ExecStartPre=-+/usr/local/sbin/clustergen-write --directory /state/slurm slurm"
    assert made in unit_lines(tree, "head", "slurmctld")
    assert "/usr/local/sbin/clustergen-write" in node_files(tree, "head")
    local = cluster(tmp_path, slurm={"state_location": "/state/slurm"})
    assert "/state/slurm" in text_of(local, "head", "/etc/tmpfiles.d/clustergen-slurmctld.conf")
    assert made not in unit_lines(local, "head", "slurmctld")


@pytest.mark.real
@pytest.mark.parametrize(("host", "daemon"), [("head", "slurmctld"), ("head", "slurmdbd"), ("c1", "slurmd")])
def test_logs_are_rotated_where_they_are_written(host: str, daemon: str, tmp_path: Path) -> None:
    tree = cluster(tmp_path)
    done = ask(tree, host, tmp_path, "logrotate", "-d", f"/etc/logrotate.d/{daemon}")
    assert "error" not in done.stderr
    log = next(line for line in done.stderr.splitlines() if "considering log" in line or "rotating pattern" in line)
    key = {"slurmctld": "SlurmctldLogFile", "slurmd": "SlurmdLogFile", "slurmdbd": "LogFile"}[daemon]
    assert settings(tree, file="slurmdbd.conf" if daemon == "slurmdbd" else "slurm.conf")[key] in log


PATHS = {
    "log_files": {"slurmctld": "/var/log/slurmctld.log", "slurmd": "/var/log/slurm/%n/slurmd.log"},
    "pid_files": {"slurmctld": "/var/run/slurm/slurmctld.pid"},
    "spool_directory": "/var/spool/slurmd/%n",
}


@pytest.mark.real
@pytest.mark.parametrize(
    ("host", "stats"),
    [
        ("head", {"/run/slurm": "slurm 755", "/var/log/slurmctld.log": "slurm 640", "/var/log": "root 755"}),
        ("c1", {"/var/spool/slurmd": "root 755", "/var/log/slurm": "root 755"}),
    ],
)
def test_directories_and_log_files_follow_the_fields(host: str, stats: dict[str, str], tmp_path: Path) -> None:
    """A directory of the system keeps its owner; a part with the node's name is left to slurmd."""
    tree = cluster(tmp_path, slurm=PATHS)
    files = [path for path in node_files(tree, host) if path.startswith("/etc/tmpfiles.d/clustergen-")]
    create = "systemd-sysusers && systemd-tmpfiles --create " + " ".join(files)
    done = ask(tree, host, tmp_path, "sh", "-c", f"{create} && stat -c '%U %a' {' '.join(stats)}")
    assert done.stdout.splitlines() == list(stats.values()), done.stderr
    assert settings(tree)["SlurmdSpoolDir"] == "/var/spool/slurmd/%n"


BOTH = {**HEAD, "type": "gpu", "roles": [*HEAD["roles"], "slurm-compute"]}


@pytest.mark.real
@pytest.mark.parametrize(
    ("nodes", "slurm"),
    [
        ([BOTH], {}),
        ([HEAD, COMPUTE], {}),
        # Without a node that runs both, the directory of the log is root's, too.
        ([HEAD, COMPUTE], {"log_files": {"slurmd": "/var/log/slurm/slurmd.log"}}),
    ],
)
def test_slurmd_writes_only_where_slurm_user_cannot(nodes: Any, slurm: dict[str, Any], tmp_path: Path) -> None:
    """Debian's packages give these directories to SlurmUser, until the unit runs systemd-tmpfiles."""
    tree = cluster(tmp_path, nodes=nodes, slurm=slurm)
    host = "head" if nodes == [BOTH] else "c1"
    (command,) = (line for line in unit_lines(tree, host, "slurmd") if "systemd-tmpfiles" in line)
    values = settings(tree)
    script = f"""systemd-sysusers
mkdir -p /var/lib/slurm/slurmd /var/log/slurm; chown slurm: /var/lib/slurm /var/lib/slurm/slurmd /var/log/slurm
systemd-tmpfiles --create
{command.partition("=-")[2]}
for path in {values["SlurmdLogFile"]} {values["SlurmdSpoolDir"]}/file; do
  setpriv --reuid slurm --clear-groups ln -s /etc/shadow $path 2>/dev/null && echo linked $path
  while [ $path != / ]; do path=$(dirname $path); stat -c '%U %a' $path; done
done | sort | uniq"""
    done = ask(tree, host, tmp_path, "bash", "-c", script)
    assert done.stdout.splitlines() == ["root 755"], done


@pytest.mark.real
def test_a_log_in_a_directory_of_the_system_is_created_for_its_daemon(tmp_path: Path) -> None:
    """slurmctld, as the Slurm user, cannot create it there after a rotation."""
    tree = cluster(tmp_path, slurm=PATHS)
    rotate = "echo text >/var/log/slurmctld.log; chown slurm /var/log/slurmctld.log; chmod 755 /var/log"
    force = "logrotate -f -s /tmp/state /etc/logrotate.d/slurmctld; stat -c '%U %a' /var/log/slurmctld.log"
    done = ask(tree, "head", tmp_path, "bash", "-c", f"systemd-sysusers; {rotate}; {force}")
    assert done.stdout.splitlines()[-1:] == ["slurm 640"], done.stderr
    assert "/var/log/slurm/*/slurmd.log {" in text_of(tree, "c1", "/etc/logrotate.d/slurmd")


# --- configless -------------------------------------------------------------------------------------------------------


def test_a_configless_cluster_has_its_configuration_in_one_place(tmp_path: Path) -> None:
    tree = cluster(tmp_path, nodes=[HEAD, LOGIN, COMPUTE], slurm={"configless": True})
    assert "/etc/slurm/slurm.conf" in node_files(tree, "head")
    for host in ("c1", "login1"):
        assert not [
            path for path in node_files(tree, host) if path.startswith("/etc/slurm/") and path.endswith(".conf")
        ]
    assert 'SLURMD_OPTIONS="--conf-server 10.0.0.1:6817"' in text_of(tree, "c1", "/etc/default/slurmd")
    assert 'SACKD_OPTIONS="--conf-server 10.0.0.1:6817"' in text_of(tree, "login1", "/etc/default/sackd")


def test_a_login_node_without_sackd_keeps_its_own_copy(tmp_path: Path) -> None:
    tree = cluster(tmp_path, "22.05", nodes=[HEAD, LOGIN, COMPUTE], slurm={"configless": True})
    assert "/etc/slurm/slurm.conf" in node_files(tree, "login1")
    assert "/etc/default/sackd" not in node_files(tree, "login1")


def test_the_packaged_unit_that_waits_for_a_slurm_conf_does_not(tmp_path: Path) -> None:
    slurm = {"configless": True, "build": "distribution"}
    assert "ConditionPathExists=" in unit_lines(cluster(tmp_path, "22.05", os="debian-12", slurm=slurm), "c1", "slurmd")
    assert "ConditionPathExists=" not in unit_lines(cluster(tmp_path, "24.11", slurm=slurm), "c1", "slurmd")


def test_options_of_slurmd_go_away_with_configless(tmp_path: Path) -> None:
    assert 'SLURMD_OPTIONS=""' in text_of(cluster(tmp_path), "c1", "/etc/default/slurmd")


# --- slurmdbd and MariaDB ---------------------------------------------------------------------------------------------


def test_a_local_database_needs_no_password(tmp_path: Path) -> None:
    tree = cluster(tmp_path)
    result = settings(tree, file="slurmdbd.conf")
    assert (result["StorageHost"], result["StorageUser"]) == ("localhost", "slurm")
    assert not {"StoragePass", "StoragePort"} & result.keys()
    assert node_files(tree, "head")["/etc/slurm/slurmdbd.conf"].mode == 0o600
    assert "/etc/mysql/mariadb.conf.d/90-slurm.cnf" in node_files(tree, "head")


REMOTE = {"accounting": {"database_host": "db.example.org:3307"}}


def test_the_password_of_a_remote_database_is_in_no_file_of_the_tree(tmp_path: Path) -> None:
    tree = cluster(tmp_path, slurm=REMOTE)
    text = text_of(tree, "head", "/etc/slurm/slurmdbd.conf")
    assert "\nInclude /etc/slurm/slurmdbd.secret.conf\n" in text
    assert "StorageHost=db.example.org\n" in text
    assert "StoragePort=3307\n" in text
    assert "StoragePass=" not in text.replace("# StoragePass=", "")
    assert "/etc/mysql/mariadb.conf.d/90-slurm.cnf" not in node_files(tree, "head")


PASSWORD = "pass # word"
DATABASE = f"""
echo slurm:x:64030:64030::/:/bin/false >>/etc/passwd
mkdir -p /run/munge /etc/munge /var/log/munge /var/lib/munge /var/log/slurm /run/mysqld
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge; chmod 400 /etc/munge/munge.key; chmod 755 /run/munge
chown -R munge /run/munge /etc/munge /var/log/munge /var/lib/munge
setpriv --reuid "$(id -u munge)" --clear-groups munged
cp -r /var/lib/clustergen/mariadb /run/db
mariadbd --no-defaults --user=root --datadir=/run/db --socket=/run/mysqld/mysqld.sock \\
  --port=3307 --bind-address=127.0.0.1 \\
  --innodb-data-file-path=ibdata1:10M:autoextend --innodb-log-file-size=4M --innodb-undo-tablespaces=0 \\
  --innodb-temp-data-file-path=ibtmp1:1M:autoextend \\
  --loose-innodb-snapshot-isolation=OFF >/run/clustergen/db.log 2>&1 &
for _ in {{1..1000}}; do grep -q 'ready for connections' /run/clustergen/db.log && break; sleep 0.02; done
mariadb --no-defaults -S /run/mysqld/mysqld.sock -e "CREATE DATABASE slurm_acct_db; \
  CREATE USER slurm IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON slurm_acct_db.* TO slurm"
cd /etc/slurm
echo 'StoragePass="{PASSWORD.replace("#", chr(92) + "#")}"' >slurmdbd.secret.conf
chown slurm slurmdbd.conf slurmdbd.secret.conf /var/log/slurm; chmod 600 slurmdbd.conf slurmdbd.secret.conf
slurmdbd -D >/run/clustergen/slurmdbd.log 2>&1 &
for _ in {{1..1000}}; do grep -qE 'started|fatal' /run/clustergen/slurmdbd.log && break; sleep 0.02; done"""


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_slurmdbd_takes_the_password_from_the_included_file(slurm: SlurmInstall, tmp_path: Path) -> None:
    tree = cluster(tmp_path, ".".join(slurm.version.split(".")[:2]), slurm={**REMOTE, "mpi_default": "pmi2"})
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", tmp_path / "head"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n127.0.0.1 db.example.org\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    done = sandbox.run(box, ["bash", "/run/clustergen/script"], timeout=300, notes={"script": DATABASE})
    assert f"slurmdbd version {slurm.version} started" in done.files["slurmdbd.log"], done.files["slurmdbd.log"]


@pytest.mark.parametrize(
    ("memory", "pool"), [(None, 4096), ("16GiB", 4096), ("8GiB", 2048), ("256GiB", 13107), ("2TiB", 16384)]
)
def test_the_buffer_pool_fits_the_node(memory: str | None, pool: int, tmp_path: Path) -> None:
    kinds: dict[str, Any] = {"db": {"cpu": {"cores_per_socket": 8}, "memory": memory}} if memory else {}
    nodes = [{**HEAD, "type": "db"} if memory else HEAD, COMPUTE]
    text = text_of(
        cluster(tmp_path, node_types={**gpu_type(), **kinds}, nodes=nodes),
        "head",
        "/etc/mysql/mariadb.conf.d/90-slurm.cnf",
    )
    assert f"innodb_buffer_pool_size  = {pool}M" in text
    assert "loose_innodb_snapshot_isolation = OFF" in text


@pytest.mark.parametrize(
    ("memory", "reserved", "pool", "limit"),
    [
        ("128GiB", None, 2048, 4669),
        ("8GiB", None, 1024, 3072),
        ("2TiB", None, 2048, 34816),
        ("128GiB", "3GiB", 1536, 3072),
        ("128GiB", "16GiB", 2048, 16384),
    ],
)
def test_the_buffer_pool_fits_what_jobs_do_not_get(
    memory: str, reserved: str | None, pool: int, limit: int, tmp_path: Path
) -> None:
    """On a node that also runs jobs: the pool of 2 GiB is part of MemSpecLimit, and leaves half of it."""
    kind: dict[str, Any] = {"cpu": {"cores_per_socket": 8}, "memory": memory}
    if reserved:
        kind["reserved"] = {"memory": reserved}
    nodes = [{**HEAD, "type": "all", "roles": [*HEAD["roles"], "slurm-compute"]}]
    tree = cluster(tmp_path, node_types={"all": kind}, nodes=nodes)
    conf = text_of(tree, "head", "/etc/mysql/mariadb.conf.d/90-slurm.cnf")
    assert f"innodb_buffer_pool_size  = {pool}M" in conf
    assert f" MemSpecLimit={limit} " in text_of(tree, "head", "/etc/slurm/slurm.conf")
    assert pool * 2 <= limit


# --- containers -------------------------------------------------------------------------------------------------------


def test_pyxis_is_loaded_where_steps_start_and_where_they_run(tmp_path: Path) -> None:
    tree = cluster(tmp_path, nodes=[HEAD, LOGIN, COMPUTE], slurm=PYXIS)
    for host in ("head", "login1", "c1"):
        assert "\nrequired " in text_of(tree, host, "/etc/slurm/plugstack.conf")
    assert "ENROOT_CACHE_PATH       /raid/enroot/cache/user-$(id -u)" in text_of(tree, "c1", "/etc/enroot/enroot.conf")
    assert not [path for path in node_files(cluster(tmp_path), "c1") if "plugstack" in path or "enroot.conf" in path]


# --- access -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_nodes_that_just_compute_shut_users_out(tmp_path: Path) -> None:
    machine = roles("slurm-controller", "slurm-compute", name="titan")
    tree = cluster(tmp_path, nodes=[{**machine, "type": "gpu"}, {**COMPUTE, "roles": ["slurm-compute", "login"]}])
    assert "/etc/pam.d/sshd" not in node_files(tree, "titan")
    assert "/etc/pam.d/sshd" not in node_files(tree, "c1")
    assert "/etc/pam.d/sshd" in node_files(cluster(tmp_path), "c1")
    assert "/etc/pam.d/sshd" not in node_files(cluster(tmp_path, host={"ssh_adopt": False}), "c1")


def test_root_administrators_and_who_applies_the_tree_come_in(tmp_path: Path) -> None:
    tree = cluster(tmp_path, host={"admin_group": "admins"}, ansible={"user": "deploy"})
    text = text_of(tree, "c1", "/etc/security/access-slurm.conf")
    rules = [line for line in text.splitlines() if line[:1] in "+-"]
    assert rules == ["+ : root : ALL", "+ : deploy : ALL", "+ : (admins) : ALL", "- : ALL : ALL"]


@pytest.mark.real
def test_sshd_reads_the_drop_in(tmp_path: Path) -> None:
    keys = "mkdir -p /run/sshd; ssh-keygen -A >/dev/null; sshd -T | grep -i usepam"
    root = root_with("sshd")
    assert root is not None
    box = sandbox.Sandbox(root, files=((lay_out(cluster(tmp_path), "c1", tmp_path / "c1"), "/"),))
    assert sandbox.run(box, ["bash", "-c", keys], timeout=300).stdout == "usepam yes\n"


def test_every_controller_reads_the_same_lines(tmp_path: Path) -> None:
    nodes = [roles("slurm-controller", name="h[1-2]", address="10.0.0.[1-2]"), COMPUTE]
    tree = cluster(tmp_path, nodes=nodes, storage=STORAGE, slurm={"state_location": "/state/slurm"})
    assert lines(tree, "h1") == lines(tree, "h2") == lines(tree, "c1")
