"""A trial of new files is made by root on a node with other users: what they can read and misuse of it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import (
    overlay,
    run_mark,
    safe_files,
    slurm_keep,
    slurm_trials,
    trials,
)

ROOT = Path(__file__).parents[2]
SLURM_USER = 64001  # any id that has no account on this machine

# In a mount namespace with its own /etc, /run and /opt, root tries out a slurm.conf; slurmctld is a program that looks
# around as SlurmUser.
SCENE = r"""
set -eu
mount -t tmpfs none /mnt
mkdir -p /mnt/etc/slurm/sub /mnt/opt/slurm/sbin /mnt/run /mnt/state /mnt/live /mnt/kept
cp -L /etc/ld.so.cache /mnt/etc/ || true
printf 'root:x:0:0::/:/bin/sh\nslurm:x:%s:%s::/:/bin/sh\n' "$1" "$1" >/mnt/etc/passwd
printf 'root:x:0:\nslurm:x:%s:\n' "$1" >/mnt/etc/group
echo '127.0.0.1 localhost' >/mnt/etc/hosts
chmod 755 /mnt /mnt/etc /mnt/etc/slurm
(umask 077; echo KEY >/mnt/etc/slurm/slurm.key; echo SHADOW >/mnt/root-only)
conf='ClusterName=c\nSlurmctldHost=h\nSlurmUser=slurm\nStateSaveLocation=/mnt/state\nSlurmctldLogFile=/live.log\n'
printf "$conf" >/mnt/live/slurm.conf
ln -s /mnt/live/slurm.conf /mnt/etc/slurm/slurm.conf
echo kept >/mnt/live/other.conf; ln -s /mnt/live /mnt/etc/slurm/linked
echo usage >/mnt/state/qos_usage
ln -s /mnt/root-only /mnt/state/assoc_usage
ln /mnt/root-only /mnt/state/last_tres
mkfifo /mnt/state/last_config_lite
chown -R -h "$1:$1" /mnt/state; chown 0:0 /mnt/state/last_tres
cat >/mnt/opt/slurm/sbin/slurmctld <<'END'
#!/bin/sh
user="setpriv --reuid $SLURM_ID --regid $SLURM_ID --clear-groups"
place=$(echo /run/clustergen-trial-*)
cd $place
for path in /etc/slurm/slurm.key copies/etc/slurm/slurm.key state/qos_usage state/assoc_usage state/last_tres; do
  if $user cat $path >/dev/null 2>&1; then echo "reads $path"; else echo "cannot read $path"; fi
done >/mnt/seen
$user sh -c "ls; ls copies; rm -f slurmctld.log; ln -s /mnt/root-only x" >>/mnt/seen 2>/dev/null
grep -h . /etc/slurm/slurm.conf >>/mnt/seen
# These words go where the configuration says.
echo 'Running as primary controller' >>"$(grep -o '/run/[^ ]*/slurmctld.log' /etc/slurm/slurm.conf)"
sleep 20
END
chmod 755 /mnt/opt/slurm/sbin/slurmctld
mount --bind /mnt/etc /etc; mount --bind /mnt/opt /opt; mount --bind /mnt/run /run
SLURM_ID=$1 timeout -k 2 60 "$2" -c "$3"
"""

TRIAL = r"""
import json, os, subprocess, sys
sys.path.insert(0, {playbooks!r})
from ansible_collections.clustergen.cluster.plugins.module_utils import slurm_keep, slurm_trials
from ansible_collections.clustergen.cluster.plugins.module_utils.staging import Staged

class Module:
    def run_command(self, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=50)
        return done.returncode, done.stdout, done.stderr

os.umask(0)
new = open("/mnt/live/slurm.conf", "rb").read() + b"# new\n"
files = [
    dict(target="/etc/slurm/slurm.conf", content=new, mode="0644", ids=[0, 0]),
    dict(target="/etc/slurm/linked/other.conf", content=b"new", mode="0644", ids=[0, 0]),
]
with Staged(files, ["/etc/slurm/linked/slurm.conf"]) as staged:
    said = slurm_trials.slurmctld(Module(), staged)
kept = None
try:
    slurm_keep.state("/mnt/kept", "x")
except slurm_keep.KeepError as err:
    kept = str(err)
os.unlink("/mnt/state/last_tres")
path, _ = slurm_keep.state("/mnt/kept", "y")
print(json.dumps(dict(
    said=said, seen=open("/mnt/seen").read().splitlines(), live=open("/mnt/live/slurm.conf").read(),
    root=open("/mnt/root-only").read(), other=open("/mnt/live/other.conf").read(), left=os.listdir("/run"), kept=kept,
    archive=subprocess.run(["tar", "-tvzf", path], capture_output=True, text=True).stdout,
)))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Files that a trial of slurmctld let SlurmUser see, and live files that it changed."""
    mapped = () if os.geteuid() == 0 else ("--map-root-user", "--map-auto")
    script = TRIAL.format(playbooks=str(ROOT / "playbooks"))
    command = ["unshare", *mapped, "--mount", "--propagation", "private", "sh", "-c", SCENE, "sh", str(SLURM_USER)]
    python = os.path.realpath(sys.executable)
    done = subprocess.run([*command, python, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    assert values["said"] == ""
    return values


@pytest.mark.real
def test_slurm_user_reads_its_own_files_alone(seen: dict[str, Any]) -> None:
    assert seen["seen"][:5] == [
        "cannot read /etc/slurm/slurm.key",
        "cannot read copies/etc/slurm/slurm.key",
        "reads state/qos_usage",
        "cannot read state/assoc_usage",
        "cannot read state/last_tres",
    ]
    assert not [line for line in seen["seen"][5:] if line in ("copies", "slurm.key", "x")]
    assert "# new" in seen["seen"]
    assert seen["root"] == "SHADOW\n"
    assert not [name for name in seen["left"] if name.startswith("clustergen")]


@pytest.mark.real
def test_a_trial_leaves_live_files_alone_that_links_lead_to(seen: dict[str, Any]) -> None:
    assert "# new" not in seen["live"]
    assert "SlurmctldLogFile=/live.log" in seen["live"]
    assert seen["other"] == "kept\n"


@pytest.mark.real
def test_the_kept_state_holds_nothing_that_slurm_user_may_not_read(seen: dict[str, Any]) -> None:
    assert "cannot be read as slurm" in seen["kept"]
    assert "qos_usage" in seen["archive"]
    assert "assoc_usage -> /mnt/root-only" in seen["archive"]
    assert "last_tres" not in seen["archive"]


def test_a_configless_node_asks_no_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Copy:
        def directory(self, _: str) -> str:
            return str(tmp_path)

        def see(self, *_: Any) -> tuple[int, str]:
            return 1, "slurmd: fatal: Could not establish a configuration source"

    monkeypatch.setattr(slurm_trials.shutil, "which", lambda *_, **__: "/usr/sbin/slurmd")
    assert slurm_trials.slurmd(None, Copy()) == ""
    (tmp_path / "slurm.conf").touch()
    assert slurm_trials.slurmd(None, Copy()).startswith("slurmd rejects these files: ")


def test_a_copy_is_private_until_it_has_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "etc"
    (source / "inner").mkdir(parents=True)
    for name, mode in (("slurm.key", 0o600), ("slurm.conf", 0o644), ("inner/secret", 0o640)):
        (source / name).write_text(name)
        (source / name).chmod(mode)
    (source / "inner").chmod(0o750)
    os.mkfifo(source / "pipe")
    (source / "link").symlink_to("/etc/shadow")
    widest: list[int] = []
    real = os.fchown

    def fchown(target: int, user: int, group: int) -> None:
        widest.append(stat.S_IMODE(os.fstat(target).st_mode))
        real(target, user, group)

    monkeypatch.setattr(os, "fchown", fchown)
    before = os.umask(0)
    try:
        safe_files.copy_tree(str(source), str(tmp_path / "copy"))
        safe_files.create(str(tmp_path / "new"), b"x", 0o640, (os.getuid(), os.getgid()))
    finally:
        os.umask(before)
    assert set(widest) == {0o600, 0o700}
    copy = tmp_path / "copy"
    modes = {p.relative_to(copy).as_posix(): stat.S_IMODE(p.lstat().st_mode) for p in copy.rglob("*")}
    assert modes.pop("link") == 0o777
    assert modes == {"slurm.key": 0o600, "slurm.conf": 0o644, "inner": 0o750, "inner/secret": 0o640}
    assert (copy / "link").readlink() == Path("/etc/shadow")
    assert (copy / "inner/secret").read_text() == "inner/secret"


def test_a_copy_without_the_access_list_is_closed_to_the_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a list the bits of the group are the list's mask: taken alone they would let the whole group in."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("listed", "plain"):
        (source / name).write_text(name)
        (source / name).chmod(0o640)
    nobody, none = 65534, 0xFFFFFFFF
    entries = [(0x01, 6, none), (0x02, 4, nobody), (0x04, 0, none), (0x10, 4, none), (0x20, 0, none)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(source / "listed", "system.posix_acl_access", acl)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "no access lists")

    monkeypatch.setattr(os, "setxattr", refuse)  # a file system without them
    safe_files.copy_tree(str(source), str(tmp_path / "copy"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "copy").iterdir()}
    assert modes == {"listed": 0o600, "plain": 0o640}


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").write_text("0123456789")
    for name in ("pipe", "link", "absent"):
        assert safe_files.read_text(str(tmp_path / name), 100) == ""
    assert safe_files.read_text(str(tmp_path / "file"), 4, 2) == "2345"
    for name, reason in (("link", "symbolic links"), ("pipe", "not a regular file"), ("file", "was changed")):
        with pytest.raises(OSError, match=reason):
            overlay.content_in_place({"target": str(tmp_path / name), "sha256": ""})


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({}, []),
        ({"mode": "0640"}, ["mode"]),
        ({"owner": "nobody:nogroup"}, ["owner"]),
        ({"owner": "no-such-account"}, ["owner"]),
        ({"sha256": "0" * 64, "mode": "0640"}, ["content", "mode"]),
        ({"target": "/no/such/file"}, ["content"]),
    ],
)
def test_a_file_differs_in_content_mode_or_owner(change: dict[str, str], what: list[str], tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("text\n")
    place.chmod(0o600)
    digest = hashlib.sha256(b"text\n").hexdigest()
    expected = {"target": str(place), "sha256": digest, "mode": "0600", "owner": overlay.owner_name(place.stat())}
    assert overlay.difference({**expected, **change})[0] == what


def test_directories_of_new_files_are_open_to_all_users_of_a_node(tmp_path: Path) -> None:
    previous = os.umask(0o077)
    try:
        overlay.make_parents(str(tmp_path / "etc/ucx"))
    finally:
        os.umask(previous)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("etc", "etc/ucx")]
    assert modes == [0o755, 0o755]


def test_nothing_is_kept_where_others_can_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(slurm_keep.KeepError, match="users other than root can write to"):
        slurm_keep.room(str(tmp_path), 1, "the dump")


def test_another_account_cannot_hold_the_lock_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "clustergen"
    place.mkdir(mode=0o755)
    monkeypatch.setattr(run_mark, "DIRECTORY", str(place))
    with run_mark.Alone():
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("zone", "wrong"),
    [
        ("Europe/Berlin", []),
        ("Europe/Berln", ["this node has no time zone Europe/Berln; timedatectl list-timezones shows all"]),
        ("Europe", ["this node has no time zone Europe; timedatectl list-timezones shows all"]),
    ],
)
def test_a_time_zone_that_a_node_lacks_is_refused(
    zone: str, wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Berlin").touch()
    monkeypatch.setattr(trials, "_ZONES", str(tmp_path))
    line = f"L+ /etc/localtime - - - - ..{tmp_path}/{zone}\n"
    file = {"target": "/etc/tmpfiles.d/clustergen-timezone.conf", "content": line.encode(), "mode": "0644", "ids": None}
    assert trials.run(None, [file], [], []) == (wrong, [])
