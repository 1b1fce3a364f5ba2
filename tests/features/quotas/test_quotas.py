"""Quotas: limits are set once, read back, and what is not as expected is refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.render.tree import Tree
from strategies.trees import (
    COMPUTE,
    HEAD,
    calls,
    codes_of,
    manifest,
    node_files,
    run_script,
    runnable,
    text_of,
    tree_of,
)

SCRIPT = "/usr/local/sbin/clustergen-quota"
NFS = {"type": "nfs", "server": "head", "path": "/export/home", "mount": "/home"}
ADA = {"user": "ada", "space": "1GiB", "files": 5000}
LUSTRE = {"type": "lustre", "mount": "/mnt/data", "mgs": ["10.1.0.9@o2ib"]}
CEPH = {
    "type": "cephfs",
    "mount": "/mnt/data",
    "monitors": ["10.0.0.9"],
    "fsid": "0e5b8f0c-7d0e-4a55-9f1c-0123456789ab",
    "user": "cluster",
}
BEEGFS = {"type": "beegfs", "mount": "/mnt/data", "mgmtd": "10.0.0.9", "quota": True, "quotas": [ADA]}
ZFS = {"zfs": {"disks": ["/dev/disk/by-id/a", "/dev/disk/by-id/b", "/dev/disk/by-id/c"], "layout": "raidz1"}}
# Stand-ins keep the limits in a file, and answer as the programs do. The answers of repquota and its unit are those of
# quota-tools 4.06 on ext4; those of lfs, zfs and Ceph are as their manuals describe them.
READ = "kib=0 files=0; [[ ! -f limits ]] || read -r kib files <limits"
BACKENDS: dict[str, tuple[dict[str, Any], str, dict[str, str]]] = {
    "lustre": (
        {**LUSTRE, "quotas": [ADA]},
        "c1",
        {
            "findmnt": "echo lustre",
            "lfs": f"""{READ}
case $1 in
  quota) echo "  /mnt/data  12* 0 $kib - 3 0 $files -" ;;
  setquota) echo "$7 ${{11}}" >limits ;;
esac""",
        },
    ),
    "beegfs": (
        {**BEEGFS, "version": "8.2"},
        "c1",
        {
            "findmnt": "echo beegfs",
            "beegfs": f"""{READ}
case $* in
  "quota list-limits --uids=1000 --pool=storage:1 --columns=space,inode --raw")
    echo "SPACE INODE"; [[ ! -f limits ]] || echo "$kib $files" ;;
  "quota set-limits storage:1 --uid=1000"*) echo "${{5#*=}} ${{6#*=}}" >limits ;;
esac""",
        },
    ),
    "beegfs-ctl": (
        {**BEEGFS, "version": "7.4"},
        "c1",
        {
            "findmnt": "echo beegfs",
            "beegfs-ctl": f"""{READ}
case $* in
  "--getquota --mount=/mnt/data --uid ada --csv --storagepoolid=1")
    echo name,id,size,hard,files,hard; echo "ada,1000,4096,${{kib/#0/unlimited}},1,${{files/#0/unlimited}}" ;;
  "--setquota --mount=/mnt/data --uid ada"*) echo "${{5#*=}} ${{6#*=}}" >limits ;;
esac""",
        },
    ),
    "zfs": (
        {**NFS, "export": ZFS, "quotas": [ADA]},
        "head",
        {
            "zfs": f"""{READ}
case $* in
  *mounted*) echo yes ;;
  get*userquota@ada*) echo $((kib * 1024)) ;;
  get*userobjquota@ada*) echo "${{files/#0/none}}" ;;
  set*userquota@ada=*) kib=${{2#*=}}; echo "${{kib%K}} $files" >limits ;;
  set*) echo "$kib ${{2#*=}}" >limits ;;
esac""",
        },
    ),
    "kernel": (
        {**NFS, "quotas": [ADA]},
        "head",
        {
            "findmnt": "echo /export",
            "quotaon": 'echo "user quota on /export (/dev/sdb1) is on (enforced)"',
            "repquota": f'{READ}\nprintf "%s\\n" User,Block root,ok,ok,1,0,7,,2,0,8, "ada,ok,ok,0,0,$kib,,0,0,$files,"',
            "setquota": 'echo "$4 $6" >limits',
        },
    ),
    "cephfs": (
        {**CEPH, "quotas": [{"directory": "/mnt/data/vision", "space": "1GiB", "files": 5000}]},
        "c1",
        {
            "findmnt": "echo ceph",
            "getfattr": "cat limits.${4##*.} 2>/dev/null",
            "setfattr": "echo $4 >limits.${2##*.}",
        },
    ),
}  # fmt: skip


def data(entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    head = {**HEAD, "roles": [*HEAD["roles"], "nfs-server"]} if entry["type"] == "nfs" else HEAD
    nodes = [head, {**COMPUTE, "addresses": {"fabric": "10.1.0.[11-14]"}}]
    fabric = {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/24"}
    networks = {"management": {"cidr": "10.0.0.0/24"}, "fabric": fabric}
    return manifest(networks=networks, nodes=nodes, storage={"data": entry}, **more)


def run(backend: str, directory: Path, *arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
    entry, host, more = BACKENDS[backend]
    vision = directory / "vision"
    vision.mkdir(exist_ok=True)
    script = runnable(tree_of(data(entry), directory), host, SCRIPT, directory, {"/mnt/data/vision": str(vision)})
    common = {"hostname": f"echo {host}", "getent": "[[ $2 == ada ]] && echo ada:x:1000:"}
    return run_script(script.read_text(), common | more | programs, directory, "data", *arguments)


def changes(directory: Path) -> list[str]:
    return [
        call
        for call in calls(directory)
        if call.split()[0] in ("setquota", "setfattr") or re.search(r" (quota |--)?set", call)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_limits_are_set_once(backend: str, tmp_path: Path) -> None:
    assert run(backend, tmp_path, "check").returncode == 1
    assert changes(tmp_path) == []
    done = run(backend, tmp_path, "apply")
    assert (done.returncode, done.stderr) == (0, "")
    first = changes(tmp_path)
    assert first
    assert run(backend, tmp_path, "apply").returncode == 0
    assert changes(tmp_path) == first
    assert run(backend, tmp_path).stdout == ""


REFUSED = {
    "another host": ("kernel", {"hostname": "echo c9"}, "run this on head"),
    "no such user": ("kernel", {"getent": "exit 2"}, "user ada does not exist"),
    "quotas off": ("kernel", {"quotaon": "echo 'user quota on /export (/dev/sdb1) is off'"}, "are off"),
    "quotas only counted": (
        "kernel",
        {"quotaon": "echo 'user quota on /export (/dev/sdb1) is on (accounting)'"},
        "user quotas of /export are counted, but not enforced",
    ),
    "the root file system": ("kernel", {"findmnt": "echo /"}, "root file system"),
    "not set": ("kernel", {"setquota": "true"}, "0 0 after they were set"),
    "not mounted": ("lustre", {"findmnt": "exit 1"}, "is no mounted Lustre"),
    "another answer": ("lustre", {"lfs": "echo quotas are not enabled"}, "cannot be read"),
    "no numbers": ("lustre", {"lfs": "echo /mnt/data 1 0 2G - 3 0 x -"}, "are not numbers: 2G x"),
    "no table": ("beegfs", {"beegfs": "echo quotas are not licensed"}, "cannot be read"),
    "only the head": ("beegfs-ctl", {"beegfs-ctl": "echo name,id,size,hard,files,hard"}, "cannot be read"),
    "no dataset": ("zfs", {"zfs": "exit 1"}, "is not mounted"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_unexpected_output_is_refused(case: str, tmp_path: Path) -> None:
    backend, programs, message = REFUSED[case]
    done = run(backend, tmp_path, "apply", **programs)
    assert done.returncode == 1
    assert message in done.stderr


PROJECT = {"project": 1001, "directory": "/mnt/data/vision", "space": "1TiB"}


@pytest.mark.parametrize(
    ("answer", "code", "sets"), [("0 -", 0, True), ("1001 P", 0, False), ("1001 -", 0, True), ("7 P", 1, False)]
)
def test_a_directory_of_another_project_is_refused(answer: str, code: int, sets: bool, tmp_path: Path) -> None:
    entry = {**LUSTRE, "quotas": [PROJECT]}
    script = runnable(tree_of(data(entry), tmp_path), "c1", SCRIPT, tmp_path, {"/mnt/data/vision": str(tmp_path)})
    lfs = f'[[ $2 != -d ]] || echo " {answer} $3"\n[[ $1 != quota ]] || echo " x 1 0 1073741824 - 1 0 0 -"'
    programs = {"hostname": "echo c1", "findmnt": "echo lustre", "lfs": lfs}
    assert run_script(script.read_text(), programs, tmp_path, "data", "apply").returncode == code
    assert (f"lfs project -p 1001 -s -r {tmp_path}" in calls(tmp_path)) is sets


def test_one_host_sets_the_limits(tmp_path: Path) -> None:
    files = node_files(tree_of(data(BACKENDS["lustre"][0]), tmp_path), "c3")
    unit = files["/etc/systemd/system/clustergen-quota-data.service"].content.decode()
    assert "ConditionHost=c1\nRequiresMountsFor=/mnt/data\n" in unit


WRONG: dict[str, dict[str, Any]] = {
    "two subjects": {**LUSTRE, "quotas": [{**ADA, "group": "vision"}]},
    "no subject": {**NFS, "quotas": [{"space": "1GiB"}]},
    "no limit": {**NFS, "quotas": [{"user": "ada"}]},
    "twice": {**NFS, "quotas": [ADA, {**ADA, "space": "2GiB"}]},
    "no multiple of 1 KiB": {**NFS, "quotas": [{**ADA, "space": "1001B"}]},
    "a project without a directory": {**LUSTRE, "quotas": [{"project": 1, "files": 5}]},
    "no quotas": {**BEEGFS, "version": "7.4", "quota": False},
    "a directory elsewhere": {**CEPH, "quotas": [{"directory": "/mnt/database", "files": 5}]},
    "another server": {**NFS, "server": "10.0.0.9", "quotas": [ADA]},
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_quotas_that_cannot_be_kept_are_errors(case: str, tmp_path: Path) -> None:
    assert "quota-wrong" in codes_of(data(WRONG[case]), tmp_path)


def purposes_of(tree: Tree, group: str) -> list[str]:
    variables = next(file for file in tree if file.path == "inventory/group_vars/all.yml")
    purposes: list[str] = yaml.safe_load(variables.content)["cluster_packages"].get(group, [])
    return purposes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("os", "unit"), [("debian-13", "quotarpc.service"), ("rocky-9", "rpc-rquotad.service")], ids=["debian", "rocky"]
)
def test_an_nfs_server_shows_users_their_limits(os: str, unit: str, tmp_path: Path) -> None:
    shown = data({**NFS, "quotas": [ADA]}, os=os, user_guide={})
    if os == "debian-13":
        shown["host"] = {"firewall": "nftables"}
    tree = tree_of(shown, tmp_path)
    start = "ExecStart=\nExecStart=/usr/sbin/rpc.rquotad --foreground --port 875\n"
    assert start in text_of(tree, "head", f"/etc/systemd/system/{unit}.d/50-clustergen.conf")
    assert purposes_of(tree, "export_data")[-2:] == ["quota", "rquotad"]
    assert f"/etc/systemd/system/{unit}.d/50-clustergen.conf" not in node_files(tree, "c1")
    if os == "debian-13":
        rules = text_of(tree, "head", "/etc/clustergen-firewall/ports.d/export_data.nft")
        assert {int(number) for number in re.findall(r"udp dport (\d+)", rules)} == {111, 875}


@pytest.mark.slow
def test_limits_of_zfs_are_not_shown_by_rquotad(tmp_path: Path) -> None:
    tree = tree_of(data({**NFS, "export": ZFS, "quotas": [ADA]}), tmp_path)
    assert not [path for path in node_files(tree, "head") if "quotarpc" in path]
    assert "rquotad" not in purposes_of(tree, "export_data")


def test_the_port_of_rquotad_is_taken(tmp_path: Path) -> None:
    ports = {"slurm": {"version": "24.11", "ports": {"slurmctld": 875}}}
    assert "port-twice" in codes_of(data({**NFS, "quotas": [ADA]}, **ports), tmp_path)
