"""The sandbox shows a program the files where they lie on the node, and nothing gets out of it."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.sandbox import Sandbox, SandboxError
from clustergen.verify.slurm_roots import SlurmInstall

pytestmark = pytest.mark.real


def shell(box: Sandbox, script: str, timeout: float = 20) -> sandbox.Outcome:
    return sandbox.run(box, ["/bin/sh", "-c", script], timeout=timeout)


def test_files_are_in_place_with_any_rights_on_the_control_host(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    (tmp_path / "etc/demo").mkdir(parents=True, mode=0o700)
    (tmp_path / "etc/demo/a.conf").write_text("a\n", encoding="utf-8")
    (tmp_path / "etc/demo/b.conf").symlink_to("a.conf")
    (tmp_path / "etc/demo/run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "etc/demo/run.sh").chmod(0o700)
    done = shell(Sandbox(current_slurm.path, files=((tmp_path, "/"),)), "stat -c '%n %A %U' /etc/demo /etc/demo/*")
    assert done.stdout.splitlines() == [
        "/etc/demo drwxr-xr-x root",
        "/etc/demo/a.conf -rw-r--r-- root",
        "/etc/demo/b.conf lrwxrwxrwx root",
        "/etc/demo/run.sh -rwxr-xr-x root",
    ]


def test_its_own_directory_may_have_any_name(
    current_slurm: SlurmInstall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, place = tmp_path / "files", tmp_path / "a:b c"
    for directory in (files, place):
        directory.mkdir()
    (files / "demo").write_text("a\n", encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    assert shell(Sandbox(current_slurm.path, files=((files, "/etc"),)), "cat /etc/demo").stdout == "a\n"


def test_a_directory_is_laid_over_what_is_there_unless_that_is_to_be_hidden(
    current_slurm: SlurmInstall, tmp_path: Path
) -> None:
    (tmp_path / "mine").touch()
    files = ((tmp_path, "/etc/default"),)
    assert len(shell(Sandbox(current_slurm.path, files=files), "ls /etc/default").stdout.split()) > 1
    alone = Sandbox(current_slurm.path, files=files, empty=("/etc/default",))
    assert shell(alone, "ls /etc/default").stdout == "mine\n"


def test_names_addresses_and_devices_are_the_node_s(current_slurm: SlurmInstall) -> None:
    box = Sandbox(
        current_slurm.path,
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1", "fd00::1"),
        devices=("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap1"),
    )
    done = shell(box, "hostname; getent hosts head; ip -o address show dev lo; ls /dev/nvidia0 /dev/nvidia-caps/*")
    assert done.stdout.startswith("head\n10.0.0.1")
    assert "10.0.0.1/32" in done.stdout
    assert "fd00::1/128" in done.stdout
    assert done.stdout.endswith("/dev/nvidia-caps/nvidia-cap1\n/dev/nvidia0\n")
    assert done.code == 0


# Prints the network's counters after exchanges in which each message has two parts, as Slurm 22.05 sends them.
TWO_PARTS = """
import socket
server = socket.create_server(("10.0.0.1", 0))
client = socket.create_connection(server.getsockname())
served, _ = server.accept()
for _ in range(20):
    for sender, receiver in ((client, served), (served, client)):
        sender.sendall(b"head")
        sender.sendall(b"body")
        receiver.recv(8, socket.MSG_WAITALL)
names, values = [line.split() for line in open("/proc/net/netstat") if line.startswith("TcpExt:")]
print(values[names.index("DelayedACKs")])
"""


def test_a_message_in_two_parts_does_not_wait_for_its_acknowledgement(current_slurm: SlurmInstall) -> None:
    box = Sandbox(current_slurm.path, addresses=("10.0.0.1",))
    assert sandbox.run(box, ["/usr/bin/python3", "-c", TWO_PARTS], timeout=60).stdout == "0\n"


def test_nothing_gets_out(current_slurm: SlurmInstall) -> None:
    done = shell(Sandbox(current_slurm.path), "touch /etc/left /var/left; ls /etc/left; ls -d /proc/[0-9]* | wc -l")
    assert done.stdout.splitlines()[0] == "/etc/left"
    assert int(done.stdout.split()[-1]) < 6
    assert not (current_slurm.path / "etc/left").exists()


def test_notes_go_in_and_files_come_out(current_slurm: SlurmInstall) -> None:
    script = "cd /run/clustergen; tr a-z A-Z <note >answer"
    done = sandbox.run(Sandbox(current_slurm.path), ["/bin/sh", "-c", script], timeout=20, notes={"note": "word"})
    assert done.files == {"note": "word", "answer": "WORD"}


def test_the_program_s_own_status_and_words_are_kept(current_slurm: SlurmInstall) -> None:
    done = shell(Sandbox(current_slurm.path), "echo out; echo err >&2; exit 7")
    assert (done.code, done.stdout, done.stderr) == (7, "out\n", "err\n")


def test_running_out_of_time_has_no_status(current_slurm: SlurmInstall) -> None:
    assert shell(Sandbox(current_slurm.path), "echo begun; sleep 60", timeout=1).code is None


def test_a_sandbox_that_cannot_be_made_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="mount"):
        shell(Sandbox(tmp_path / "absent"), "true")


LIMITED = """
import sys
from pathlib import Path
from clustergen.verify import sandbox
from clustergen.verify.slurm_daemons import read_config
from clustergen.verify.slurm_roots import for_release
try:
    report = read_config(for_release("24.11"), Path(sys.argv[1]), nodes_for_gres=["n1"])
    box = sandbox.Sandbox(for_release("24.11").path)
    enough = ["sh", "-c", "[ $(ulimit -n) -ge 1024 ] && echo enough files"]
    print(report.started, report.complaints, sandbox.run(box, enough, timeout=60).stdout.strip())
except sandbox.SandboxError as error:
    print(error)
"""
SLURM_CONF = """\
ClusterName=c
SlurmctldHost=head
SlurmUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
NodeName=n[1-2] CPUs=2 Sockets=1 CoresPerSocket=2 RealMemory=1000
PartitionName=p Nodes=ALL Default=YES
"""


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({resource.RLIMIT_CORE: (0, 0)}, "True () enough files"),
        (
            {
                resource.RLIMIT_CORE: (0, 1 << 30),
                resource.RLIMIT_NOFILE: (64, 70000),
                resource.RLIMIT_STACK: (1 << 17, -1),
            },
            "True () enough files",
        ),
        (
            {resource.RLIMIT_NOFILE: (64, 64)},
            "the hard limit of this shell is too low for programs: ulimit -H -n shows 64, and 1024 is required",
        ),
    ],
    ids=["no core files", "low soft limits", "a low hard limit"],
)
def test_limits_of_the_caller_are_no_complaint(
    tmp_path: Path, current_slurm: SlurmInstall, limits: dict[int, tuple[int, int]], expected: str
) -> None:
    (tmp_path / "slurm.conf").write_text(SLURM_CONF, encoding="utf-8")

    def limit() -> None:
        for which, (soft, hard) in limits.items():
            most = resource.getrlimit(which)[1]
            resource.setrlimit(which, (soft, hard if most == resource.RLIM_INFINITY or 0 <= hard < most else most))

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True, timeout=120, check=False,
        preexec_fn=limit,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == (expected, "")
