"""No user drains a node: each row of the table in docs/slurm.md with a case that drains and one that does not."""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clustergen.verify.sandbox import Outcome
from clustergen.verify.slurm_roots import root_with
from strategies.slurm_scripts import AT_ONCE, EPILOG, HEALTH, PROLOG, Node, drained, node
from strategies.slurm_trees import cluster, settings
from strategies.trees import text_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "slurm.md"
USERS = "printf 'alice:x:1000:1000::/:/bin/sh\\nbob:x:1001:1001::/:/bin/sh\\n' >>/etc/passwd"
# A FUSE file system of user $1 at $2 whose program never answers. Root may look into it, and then waits for ever.
LIBRARY = """
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
fuse() {
  [ -e /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229
  exec {server}<>/dev/fuse
  mount -i -n -t fuse -o "fd=$server,rootmode=40000,user_id=$1,group_id=$1,allow_other" program "$2"
}
small() { mkdir -p "$1"; mount -t tmpfs -o "size=$2,mode=1777" small "$1"; }
fill() { as "$1" dd if=/dev/zero of="$2" bs=1M count="$3" status=none; }
check() { printf '#!/bin/sh\\n%s\\n' "$2" >"/etc/slurm/health.d/$1"; chmod 755 "/etc/slurm/health.d/$1"; }
"""
SCRATCH = f"{USERS}; mkdir -m 755 /scratch; mkdir -m 700 /scratch/.removing"
DISK = f"""{USERS}; small /tmp 40M; small /var/tmp 40M; small /dev/shm 8M
small /var/lib/slurm 40M; mkdir /var/lib/slurm/slurmd"""
# Bob's process on GPU 1, until it is killed.
PROCESS = f"""{USERS}; {AT_ONCE}
as_user 1001 sleep 99; pid=$!
echo "GPU-1, $pid, python" >/run/clustergen/apps
{{ while kill -0 $pid; do sleep 0.1; done; : >/run/clustergen/apps; }} 2>/dev/null &
"""
# A child of bob's that nobody waits for stays in the process table after SIGKILL, like one that a driver holds.
ZOMBIE = f"""{USERS}; {AT_ONCE}
chmod 777 /run/clustergen; rm /run/clustergen/apps
as_user 1001 bash -c 'sleep 0.2 & echo "GPU-1, $!, python" >/run/clustergen/apps; exec sleep 99'
until grep -qs ^State:.Z "/proc/$(cut -d, -f2 /run/clustergen/apps | tr -d " ")/status"; do sleep 0.05; done
"""
# The kernel lists the FUSE file systems of all sandboxes by their users: another test's may be aborted beside this one.
USER = random.randrange(10_000, 60_000)
# A program of a user that waits for a file that it serves itself: not even SIGKILL ends it.
WAITS = f"""
import ctypes, os, struct, sys, threading, time
device = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={{device}},rootmode=40000,user_id={USER},group_id={USER}'
assert ctypes.CDLL(None).mount(b'program', b'/srv', b'fuse', 0, options.encode()) == 0
place = os.open('/srv', os.O_PATH)
if sys.argv[1:] == ['detached']:
    assert ctypes.CDLL(None).umount2(b'/srv', 2) == 0
os.setgroups([]); os.setgid({USER}); os.setuid({USER})
def serve():
    while True:
        size, opcode, unique = struct.unpack('<IIQ', os.read(device, 1 << 17)[:16])
        if opcode != 26:
            print('asked', flush=True)
            time.sleep(99)
        limits = struct.pack('<IIIIHHI', 7, 31, 65536, 0, 12, 9, 65536)
        os.write(device, struct.pack('<IiQ', 80, 0, unique) + limits.ljust(64, b'\\0'))
threading.Thread(target=serve, daemon=True).start()
os.stat('file', dir_fd=place)
"""
UNKILLABLE = f"""
mknod -m 666 /dev/fuse c 10 229
mount -t fusectl fusectl /sys/fs/fuse/connections
python3 - $how <<'END' >/run/asked &
{WAITS}
END
program=$!
waits() {{ cat /proc/$program/task/*/status 2>/dev/null | grep -c ^State:.D; }}
export program; export -f waits
until [ -s /run/asked ]; do sleep 0.05; done
kill -9 $program
until waits >/dev/null; do sleep 0.05; done
"""
ABORT = f"""for place in $(find /sys/fs/fuse/connections -mindepth 1 -maxdepth 1 -user {USER}); do
  echo 1 >$place/abort
done"""
FREED = f"waits; {HEALTH}; for n in {{1..600}}; do waits >/dev/null || break; sleep 0.1; done; waits; {ABORT}"
# Bob's program holds another one, which is on GPU 1, in its exit.
TRACER = """
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
held = os.pipe()
child = os.fork()
if not child:
    os.close(held[1])
    os.read(held[0], 1)
    os._exit(0) if sys.argv[1:] == ['exits'] else signal.pause()
assert libc.ptrace(0x4206, child, None, ctypes.c_void_p(0x40)) == 0
os.close(held[1])
print(child, flush=True)
time.sleep(99)
"""
TRACED = f"""{USERS}; {AT_ONCE}
cat >/run/tracer <<'END'
{TRACER}
END
as_user 1001 python3 /run/tracer $how >/run/traced
until [ -s /run/traced ]; do sleep 0.05; done
traced=$(cat /run/traced); echo "GPU-1, $traced, python" >/run/clustergen/apps; export traced
held() {{ grep -sc ^State:.t /proc/$traced/status; }}
[ $how != exits ] || until held >/dev/null; do sleep 0.05; done
{{ while held >/dev/null || kill -0 $traced; do sleep 0.1; done; : >/run/clustergen/apps; }} 2>/dev/null &
export -f held
"""
GPU_JOB = {"SLURM_JOB_GPUS": "0,1", "SLURM_JOB_UID": "1001", "SLURM_JOB_USER": "bob"}


@dataclass(frozen=True, slots=True)
class Case:
    """A scene, a program of Slurm's that runs then, and patterns of what it logs and prints."""

    scene: str
    script: str = HEALTH
    journal: str = ""
    stdout: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


EDAC = "mount -t tmpfs tmpfs /sys/devices; mkdir -p /sys/devices/system/edac/mc/mc0; cd /sys/devices/system/edac/mc/mc0"
HOT = {"temperature": "GPU-5, 5, 75, 0\n"}

# The first cell of a row → what drains the node, and what does not.
ROWS: dict[str, tuple[Case, Case]] = {
    "scratch directory of a job": (
        Case(f"{SCRATCH}; mount -t tmpfs -o ro disk /scratch", PROLOG, "50-tmpdir failed .* Read-only file system"),
        Case(f"{SCRATCH}; mount -t tmpfs -o nr_inodes=1 full /scratch", PROLOG, "No space left on device"),
    ),
    "processes that a job left": (
        Case(ZOMBIE, EPILOG, "process [0-9]+ on GPU 0,1 cannot be killed"),
        Case(PROCESS, EPILOG, "killed on GPU 0,1"),
    ),
    "processes on a job's GPUs": (
        Case(f"{AT_ONCE}; echo GPU-1, $$, tool >/run/clustergen/apps", PROLOG, "other processes run on the job's GPUs"),
        Case(PROCESS, PROLOG, "killed on the job's GPUs: .* bob "),
    ),
    "faults of GPUs": (
        Case("", journal="GPU 3 needs Reset", outputs={"recovery": "3, Reset\n"}),
        Case("", journal="GPU 3 has 1 uncorrected memory error", outputs={"ecc": "3, 1\n"}),
    ),
    "memory of a job's GPUs": (
        Case(AT_ONCE, EPILOG, "GPU 1: 9000 MiB stay allocated; not reset: ", outputs={"memory": "1, 9000, Disabled\n"}),
        Case(AT_ONCE, EPILOG, r"\A\Z", outputs={"memory": "0, 600, Disabled\n1, 9000, Enabled\n"}),
    ),
    "temperature of GPUs": (
        Case(AT_ONCE, journal="GPU 5 is idle and has 75 C", outputs=HOT),
        Case(f"{AT_ONCE}; echo GPU-5, 4711, python >/run/clustergen/apps", outputs=HOT),
    ),
    "GPUs, NVLinks, fabric ports": (
        Case("", journal="1 of 8 GPUs respond", outputs={"gpus": "0, GPU-0\n"}),
        Case("", journal="slowed down by heat", outputs={"slowdowns": "0, 0x0000000000000020\n"}),
    ),
    "the node itself": (
        Case(f"{EDAC}; echo 3 >ue_count", journal="3 uncorrected memory errors at mc0"),
        Case(
            "as_user 1000 sleep 60; outside=$!; as_user 1001 sleep 60\n"
            "cgroup_of $! /system.slice/slurmstepd.scope/job_7/step_0/user/task_0; cgroup_of $outside /user.slice/x",
            journal=r"processes of users outside of all jobs: (1000|alice) \(1\) $",
        ),
    ),
    "space on local disks": (
        Case(f"{DISK}; fill 0 /tmp/system 35", journal="/tmp has only 5120 KiB free"),
        Case(
            f"{DISK}; fill 1000 /tmp/data 35", f"{HEALTH}; ls /tmp", r"deleted 1 files \(35840 KiB\) .*: 1000$", r"\A\Z"
        ),
    ),
    "file systems of the cluster": (
        Case("umount /home", journal="/home is not mounted"),
        Case("mkdir -m 777 /home/mnt; fuse 1000 /home/mnt", f"timeout 20 {HEALTH}; echo $?", stdout=r"\A0\n\Z"),
    ),
    "checks that do not end": (
        Case(
            "check 00-hangs 'sleep 9'; sed -i s/^limit=.*/limit=1/ /etc/slurm/health", journal=r"no end within 1 second"
        ),
        Case(
            "check 00-slow 'sleep 1'; check 01-slow 'sleep 9'; sed -i s/^limit=.*/limit=3/ /etc/slurm/health",
            journal="01-slow has not ended within the [12] seconds that were left",
        ),
    ),
}
CASES = [
    pytest.param(case, is_drained, id=f"{row}-{'drains' if is_drained else 'spares'}")
    for row, cases in ROWS.items()
    for case, is_drained in zip(cases, (True, False), strict=True)
]


@pytest.fixture
def root_user() -> None:
    """Only root can create the device file of FUSE and mount ext4; like `make test` with its labs, this needs root."""
    assert os.geteuid() == 0, "run this test as root"


@pytest.fixture
def box(tmp_path: Path) -> Node:
    """A node with all scripts, home directories and scratch."""
    root = root_with("pgrep")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    return node(
        tmp_path,
        root,
        slurm={"scripts": {"tmpdir": "/scratch"}},
        storage={"home": {"type": "nfs", "server": "10.0.0.250", "path": "/h", "mount": "/home"}},
        health={"max_temperature": 60, "min_free": "10MiB", "fabric": False},
    )


def play(box: Node, scene: str, script: str = HEALTH, outputs: dict[str, str] | None = None) -> Outcome:
    before = f"{LIBRARY}\nmkdir -p /home; mount -t tmpfs -o mode=755 home /home\n{scene}"
    return box.run(script, before, outputs, **GPU_JOB)


@pytest.mark.many
@pytest.mark.real
@pytest.mark.parametrize(("case", "is_drained"), CASES)
def test_a_fault_drains_and_what_a_user_does_spares_the_node(case: Case, is_drained: bool, box: Node) -> None:
    done = play(box, case.scene, case.script, case.outputs)
    assert (done.code != 0 or drained(done) != "") == is_drained, done
    assert re.search(case.journal, done.files.get("journal", ""), re.MULTILINE), done
    assert re.search(case.stdout, done.stdout), done


def test_the_table_has_a_test_for_each_row() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("### What drains a node")[2].partition("\n#")[0]
    first_cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    assert [cell.split(",")[0] for cell in first_cells[1:]] == [row.split(",")[0] for row in (*ROWS, UNKILLABLE_ROW)]


UNKILLABLE_ROW = "processes that cannot be killed"


@pytest.mark.slow
def test_slurm_waits_for_two_health_checks_before_a_process_counts_as_unkillable(tmp_path: Path) -> None:
    assert settings(cluster(tmp_path, health={"interval": 600}))["UnkillableStepTimeout"] == "1260"
    assert settings(cluster(tmp_path, health={"enabled": False}))["UnkillableStepTimeout"] == "180"


@pytest.mark.real
@pytest.mark.usefixtures("root_user")
@pytest.mark.parametrize("how", ["mounted", "detached"])
def test_a_killed_program_that_waits_for_itself_is_freed(how: str, box: Node) -> None:
    done = play(box, f"how={how}\n{UNKILLABLE}", FREED)
    assert done.stdout == "1\n0\n"
    assert re.search(f"aborted FUSE connection [0-9]+ of user {USER}", done.files.get("journal", "")), done
    assert drained(done) == ""


@pytest.mark.real
@pytest.mark.parametrize(
    ("how", "script"),
    [("killed", HEALTH), pytest.param("exits", HEALTH, marks=pytest.mark.long), ("killed", PROLOG), ("killed", EPILOG)],
)
def test_processes_held_by_a_tracer_are_freed(how: str, script: str, box: Node) -> None:
    kill = "kill -9 $traced; until held >/dev/null; do sleep 0.05; done; held"
    freed = "for n in {1..600}; do held >/dev/null || break; sleep 0.1; done; held"
    done = play(box, f"how={how}\n{TRACED}", f"{kill}; {script.removeprefix('exec ')}; echo $?; {freed}")
    assert done.stdout == "1\n0\n", done
    assert drained(done) == ""


@pytest.mark.real
@pytest.mark.usefixtures("root_user")
def test_a_check_for_killed_programs_that_users_slow_down_drains_no_node(box: Node) -> None:
    slow = "sed -i s/^limit=.*/limit=3/ /etc/slurm/health; sed -i 's/timeout -k 1 10/timeout -k 1 1/' $check"
    slow += "; printf '#!/bin/sh\\nsleep 9\\n' >/usr/sbin/xargs; chmod 755 /usr/sbin/xargs"
    rest = 'find /etc/slurm/health.d -type f ! -path "$check" -delete'
    scene = f"check=$(echo /etc/slurm/health.d/05-*); how=mounted\n{UNKILLABLE}\n{slow}; {rest}"
    done = play(box, scene, f"{HEALTH}; {ABORT}")
    assert drained(done) == ""
    assert done.files.get("journal", "") == ""


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "limit", "others"),
    [("05-killed", 1, ":"), pytest.param("01-slow", 3, "check 00-slow 'sleep 1'", marks=pytest.mark.long)],
)
def test_a_check_that_survives_sigterm_is_late_like_others(name: str, limit: int, others: str, box: Node) -> None:
    scene = f"""rm /etc/slurm/health.d/*; sed -i s/^limit=.*/limit={limit}/ /etc/slurm/health; {others}
check {name} 'trap "" TERM; sleep 9'"""
    done = play(box, scene)
    assert drained(done) == ""
    assert f"{name} has not ended within" in done.files["journal"]


# --- scratch ----------------------------------------------------------------------------------------------------------

EPILOG_ONCE = "env -i $(env | grep ^SLURM_) /etc/slurm/epilog"
LEFT = "$(find /scratch -mindepth 1 -printf '%P %U %m ') $(grep -c ' /scratch' /proc/self/mountinfo)"
EMPTY = "0 .removing 0 700  0"  # exit status, what is left below /scratch, mounts there
FUSE_LEFTOVERS = {
    "a program that hangs": "mkdir $job/mnt; fuse 1001 $job/mnt",
    "a program that is dead": "mkdir $job/mnt; fuse 1001 $job/mnt; exec {server}>&-",
    "the directory itself": "fuse 1001 $job",
    "upon and below each other": """mkdir -p $job/a/b; mount -t tmpfs x $job/a/b
mkdir $job/a/b/c; fuse 1001 $job/a/b/c; fuse 1001 $job""",
}
LEFTOVERS = {
    "names that are escaped": r"""d="$job/a b"$'\t\n'"\\040#/ü"
mkdir -p "$d"; mount -t tmpfs x "$d"; mount -t tmpfs y "$d" """,
    "many mounts": "for n in {1..20}; do mkdir $job/$n; mount -t tmpfs x $job/$n; done",
    "a deep path": """python3 -c 'import os
os.chdir(os.environ["job"])
for _ in range(300): os.mkdir("d" * 16); os.chdir("d" * 16)' """,
    "files of other users": """umask 0; mkdir $job/d; as 1000 touch $job/d/f
ln -s /etc $job/l; mkfifo $job/p; chmod 0 $job/d""",
    **FUSE_LEFTOVERS,
}


@pytest.mark.real
@pytest.mark.usefixtures("root_user")
def test_leftovers_of_a_job_are_removed_by_its_epilog(box: Node) -> None:
    """A job for each kind, one after the other; the programs of FUSE hang until the end."""
    jobs = "\n".join(
        f"""export SLURM_JOB_ID={number} job=/scratch/{number}; /etc/slurm/prolog
{left}
{EPILOG_ONCE}; echo "$? {LEFT}" """
        for number, left in enumerate(LEFTOVERS.values(), 101)
    )
    done = play(box, f"{SCRATCH}\n{jobs}", "true")
    assert dict(zip(LEFTOVERS, done.stdout.splitlines(), strict=True)) == dict.fromkeys(LEFTOVERS, EMPTY), done


TAKEN = {
    "another user's directory": "as 1000 mkdir -m 777 $job; as 1000 touch $job/f",
    "a link": "as 1000 ln -s /etc $job",
    "a file": "as 1000 touch $job",
    "a mount": "mkdir $job; mount -t tmpfs x $job",
    "the trash": "rm -r /scratch/.removing; as 1000 mkdir -m 777 /scratch/.removing; as 1000 mkdir $job",
    "FUSE": "as 1000 mkdir $job; fuse 1000 $job",
}


@pytest.mark.real
@pytest.mark.usefixtures("root_user")
def test_a_job_starts_although_users_took_its_name(box: Node) -> None:
    """The parent is open to all users, as on a disk that a site gave to them."""
    show = "$(stat -c %u:%F:%a:%h $job) $(stat -c %u:%a /etc) $(grep -c ' /scratch' /proc/self/mountinfo)"
    jobs = "\n".join(
        f"""export SLURM_JOB_ID={number} job=/scratch/{number}; {taken}
/etc/slurm/prolog; echo "$? {show}" """
        for number, taken in enumerate(TAKEN.values(), 101)
    )
    done = play(box, f"{SCRATCH}; chmod 1777 /scratch\n{jobs}", "true")
    expected = dict.fromkeys(TAKEN, "0 1001:directory:700:2 0:755 0")
    assert dict(zip(TAKEN, done.stdout.splitlines(), strict=True)) == expected, done
    assert done.files["journal"].count("moved aside what had the name /scratch/1") == len(TAKEN)


@pytest.mark.real
def test_a_user_whom_the_node_does_not_know_drains_no_node(box: Node) -> None:
    """SSSD is down. A directory that has the job's number is nobody's way to hand files to the job."""
    scene = "mkdir -m 755 /scratch; export SLURM_JOB_UID=99999; unset SLURM_JOB_USER"
    done = play(box, scene, f"{PROLOG.removeprefix('exec ')}; echo $?; ls -A /scratch")
    assert done.stdout == "0\n", done
    reason = "50-tmpdir: user 99999 is not known on this node: no scratch directory; check SSSD"
    assert reason in done.files["journal"]
    assert "Traceback" not in done.files["journal"]


@pytest.mark.real
def test_the_prolog_of_the_guide_drains_a_node_for_its_fault_alone(box: Node) -> None:
    """Docs/site-files.md: no user fails it, not even one whom the node does not know."""
    page = (DOCS / "site-files.md").read_text(encoding="utf-8")
    script = re.search(r"```sh file=site/slurm_compute/etc/slurm/(prolog\.d/\S+)\n(.*?)```", page, re.DOTALL)
    assert script
    once = PROLOG.removeprefix("exec ")
    scene = f"""cat >/etc/slurm/{script[1]} <<'END'\n{script[2]}END
chmod 755 /etc/slurm/{script[1]}; mkdir -m 755 /scratch /raid
export SLURM_JOB_UID=99999 SLURM_JOB_USER=nobody-here; {once}; echo $?
mount -t tmpfs -o ro disk /raid"""
    done = play(box, scene, f"{once}; echo $?")
    assert done.stdout == "0\n1\n", done
    assert "60-raid failed (1): /raid is mounted read-only" in done.files["journal"]


@pytest.mark.real
def test_a_parent_that_others_can_rename_is_taken_back(box: Node) -> None:
    done = play(box, f"{SCRATCH}; chmod 777 /scratch", f"{PROLOG.removeprefix('exec ')}; stat -c %u:%a /scratch")
    assert done.stdout == "0:755\n"


@pytest.mark.real
def test_unmounting_follows_no_link_of_the_user(box: Node) -> None:
    """Another job of the user may exchange a directory while the epilog looks at it."""
    program = 'import runpy; program = runpy.run_path("/etc/slurm/epilog.d/50-tmpdir")'
    paths = "/scratch/77/link/home", "/scratch/77/tmp", "/scratch/77/mnt"
    calls = "; ".join(f'program["detach_one"]("/scratch", "{path}")' for path in paths)
    scene = f"{SCRATCH}; mkdir -p /scratch/77/mnt; mount -t tmpfs x /scratch/77/mnt"
    scene += "; ln -s / /scratch/77/link; ln -s /tmp /scratch/77/tmp"
    points = 'awk "{ print \\$5 }" /proc/self/mountinfo | grep -xE "/home|/tmp|/scratch/77/mnt" | sort'
    done = play(box, f"{scene}\ncat >/run/call <<'END'\n{program}; {calls}\nEND", f"python3 /run/call; {points}")
    assert done.stdout == "/home\n/tmp\n", done


@pytest.mark.real
def test_many_files_are_deleted_in_the_background(box: Node) -> None:
    """The epilog ends, a second one starts no second deletion, and what is left is gone soon."""
    scene = f"""{SCRATCH}; /etc/slurm/prolog || exit 9
mkdir /scratch/.removing/old; touch /scratch/.removing/old/{{1..100}}
sed -i 's/"patience_s": .*/"patience_s": 0.001/' /etc/clustergen/tmpdir.json
cd /scratch/77; printf '%s\\n' {{1..20000}} | xargs touch; cd /"""
    wait = 'for n in {1..600}; do [ "$(ls -A /scratch/.removing)" ] || break; sleep 0.1; done'
    done = play(
        box,
        scene,
        f"env -i $(env | grep ^SLURM_) /etc/slurm/epilog; echo $?; {wait}; ls -A /scratch /scratch/.removing",
    )
    assert done.stdout == "0\n/scratch:\n.removing\n\n/scratch/.removing:\n", done
    assert "the deletion continues in the background" in done.files["journal"]


@pytest.mark.real
def test_a_full_disk_keeps_no_directory_from_being_removed(box: Node) -> None:
    """Not even the directory for the trash can be created."""
    scene = f"{USERS}; mkdir /scratch; mount -t tmpfs -o nr_inodes=9 full /scratch; /etc/slurm/prolog || exit 9; "
    scene += f'touch /scratch/77/{{1..9}} 2>/dev/null; {EPILOG_ONCE}; echo "$? {LEFT}"'
    assert play(box, scene, "true").stdout == EMPTY[:-1] + "1\n"


# --- local disks ------------------------------------------------------------------------------------------------------

FILLED = r"/tmp has only [0-9]+ KiB free, because of files of users"


# As a container whose user has 20,000 numbers.
NUMBERS = 'import os\nfor n in range(100000, 120000): os.mknod(f"/tmp/n/{n}"); os.chown(f"/tmp/n/{n}", n, 0)'

# Scene, users with jobs → what is left in /tmp, what is logged.
DISKS: dict[str, tuple[str, str, str, str]] = {
    "of a job": ("fill 1000 /tmp/data 35", "1000", "data", FILLED),
    "of a process": ("fill 1000 /tmp/data 35; as_user 1000 sleep 99", "", "data", FILLED),
    "of a set-user-ID program": (
        "fill 1000 /tmp/data 35; setpriv --ruid 1000 --clear-groups sleep 99 & begun",
        "",
        "data",
        FILLED,
    ),
    "of a job and others": ("fill 1000 /tmp/a 20; fill 1001 /tmp/b 15", "1001", "b", r"deleted 1 files \(20480"),
    "unlinked": ("as 1000 sh -c 'exec 5>/tmp/f; rm /tmp/f; head -c 35M /dev/zero >&5; sleep 99 & '", "", "", FILLED),
    "of a user and the system": ("fill 0 /tmp/a 20; fill 1000 /tmp/b 15", "1000", "a b", FILLED),
    "without slurmctld": ("fill 1000 /tmp/data 35", "none", "data", "squeue does not respond"),
    "beside slurmd": (
        "fill 1000 /var/lib/slurm/data 35",
        "",
        "",
        "slurmd has .* because of files of users",
    ),
    "shared memory": ("fill 1000 /dev/shm/data 8 2>/dev/null", "", "", "deleted 1 files .* in /dev/shm"),
    "inodes": (
        "mount -t tmpfs -o nr_inodes=100,mode=1777 few /tmp; as 1000 sh -c 'touch /tmp/$(seq -s \" /tmp/\" 96)'",
        "",
        "",
        "deleted 96 files .* in /tmp",
    ),
    "numbers without names": (
        f"fill 1000 /tmp/a 18; fill 1001 /tmp/b 15; mkdir /tmp/n; python3 -c '{NUMBERS}'",
        "1000",
        "a n",
        r"deleted 1 files \(15360 KiB\) in /tmp .*: 1001$",
    ),
    "links and mounts": (
        "as 1000 mkdir -m 777 /tmp/d; fill 1000 /tmp/d/data 35; fill 1001 /tmp/d/other 1; "
        "as 1000 ln -s /home /tmp/d/l; mkdir -p /tmp/m /home/alice; mount -t tmpfs m /tmp/m; "
        "touch /tmp/m/f /tmp/system /home/alice/f; chown -R 1000 /tmp/m/f /home/alice",
        "1001",
        "d m system /home/alice/f /tmp/d/other /tmp/m/f",
        "deleted 2 files",
    ),
}


@pytest.mark.real
def test_directories_that_users_fill_are_cleaned_and_no_others(box: Node) -> None:
    runs = "\n".join(
        f"""( {DISK}; cd /; rm -f /run/clustergen/journal
printf '%s\\n' {jobs} >/run/clustergen/jobs; [ "{jobs}" != none ] || rm /run/clustergen/jobs
{scene}
timeout 25 /etc/slurm/health.d/50-disk >/run/clustergen/reason; status=$?
echo $status $(cat /run/clustergen/reason) $(ls -A /tmp; ls -d /tmp/d/* /tmp/m/* /home/alice/* 2>/dev/null)
cat /run/clustergen/journal >&2; echo >&2
pkill sleep; umount /tmp/m 2>/dev/null; umount -l /tmp /var/tmp /dev/shm /var/lib/slurm )"""
        for scene, jobs, _, _ in DISKS.values()
    )
    done = play(box, runs, "true")
    states = dict(zip(DISKS, done.stdout.splitlines(), strict=True))
    assert states == {name: f"0 {left}".strip() for name, (_, _, left, _) in DISKS.items()}, done
    journals = dict(zip(DISKS, done.stderr.rstrip().split("\n\n"), strict=True))
    for name, (_, _, _, journal) in DISKS.items():
        assert re.search(journal, journals[name]), (name, journals[name])


@pytest.mark.real
@pytest.mark.parametrize("place", ["/tmp", "/var/lib/slurm"])
def test_a_disk_that_cannot_be_written_drains(place: str, box: Node) -> None:
    assert "cannot be written (Read-only file system)" in drained(play(box, f"{DISK}; mount -o remount,ro {place}"))


# A directory of ext4 with blocks of 1 KiB that holds no more names: long ones, and short ones in what these leave.
# Its index fills up part by part: ten refusals in a row leave room for half of all names, a hundred for one of ten.
FULL_INDEX = """
import os
os.chdir("/tmp")
os.mkdir("files")
number = 0
for width in (250, 24):
    failed = 0
    while failed < 100:
        if number % 60000 == 0:
            file = f"files/{number}"
            open(file, "w").close()
        number += 1
        try:
            os.link(file, f"{number:0{width}}")
            failed = 0
        except OSError as error:
            failed, reason = failed + 1, error.strerror
print(reason)
"""


@pytest.mark.real
@pytest.mark.usefixtures("root_user")
def test_a_directory_that_holds_no_more_names_drains_no_node(tmp_path: Path) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    options = ["-q", "-b", "1024", "-N", "2000", "-O", "^has_journal"]
    subprocess.run(["mkfs.ext4", *options, image], check=True, timeout=300)
    tree = cluster(tmp_path, health={"min_free": "10MiB"})
    for target in ("/etc/slurm/health.d/50-disk", "/etc/clustergen/health.sh"):
        text = text_of(tree, "c1", target).replace("/etc/clustergen/", "/usr/local/sbin/")
        (tmp_path / Path(target).name).write_text(text, encoding="utf-8")
    scene = f"""mount -t tmpfs -o mode=755 lib /var/lib; mkdir -p /var/lib/slurm/slurmd
mount -t tmpfs -o mode=755 bin /usr/local/sbin; cp {tmp_path}/{{50-disk,health.sh}} /usr/local/sbin
mount -o loop {image} /tmp && /usr/bin/python3 -c '{FULL_INDEX}'
PATH=/usr/local/sbin:$PATH
printf '#!/bin/sh\\necho "$6"\\n' >/usr/local/sbin/logger; chmod 755 /usr/local/sbin/logger
stat -f -c '%a %d' /tmp; for _ in 1 2 3 4 5; do bash /usr/local/sbin/50-disk; echo $?; done"""
    words = ["unshare", "--mount", "bash", "-c", scene]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    reason, free, *notes = done.stdout.splitlines()
    blocks, inodes = map(int, free.split())
    assert reason == "No space left on device"
    assert blocks > 20000
    assert inodes > 1000
    assert set(notes) == {"/tmp cannot be written (No space left on device)", "0"}, done


# --- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.real
def test_processes_that_fork_without_end_are_ended(box: Node) -> None:
    """In no job's cgroup, as from cron; bob's limit of processes is reached, and SIGTERM is ignored."""
    scene = f"""{USERS}
chmod 777 /run/clustergen; as_user 1000 sleep 98; echo 0::/system.slice/slurmstepd.scope/job_78 >/run/job
mount --bind /run/job /proc/$!/cgroup; echo $! >/run/clustergen/spared
as_user 1001 bash -c 'trap "" TERM; ulimit -u 60 || exit
bomb() {{ while :; do bomb & sleep 0.05; done; }}; bomb' 2>/dev/null
sleep 1"""
    done = play(
        box, scene, f"{EPILOG.removeprefix('exec ')}; echo $?; pgrep -cU 1001; kill -0 $(cat /run/clustergen/spared)"
    )
    assert done.stdout == "0\n0\n", done


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "status", "signals"), [("50-tmpdir", 0, ""), ("50-tmpdir", 0, 'trap "" TERM;'), ("60-site", 1, "")]
)
def test_an_epilog_that_users_slow_down_drains_no_node(name: str, status: int, signals: str, box: Node) -> None:
    scene = f"{SCRATCH}; sed -i s/^limit_s=.*/limit_s=1/ /etc/clustergen/job-scripts.sh; rm /etc/slurm/epilog.d/*\n"
    scene += (
        f"printf '#!/bin/sh\\n{signals}sleep 9\\n' >/etc/slurm/epilog.d/{name}; chmod 755 /etc/slurm/epilog.d/{name}"
    )
    done = play(box, scene, EPILOG)
    assert done.code == status
    assert f"{name} failed (124): no end within 1 seconds" in done.files["journal"]
