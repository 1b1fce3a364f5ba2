"""Real labs: the properties and limits of a node's container, and that `down` removes everything."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustergen.lab import engine as engines
from clustergen.lab import nodes, run
from clustergen.lab.work import Work
from strategies.lab_nodes import PATIENCE
from strategies.trees import manifest as small
from strategies.trees import node_files, tree_of

pytestmark = [pytest.mark.container, pytest.mark.slow]

MANIFEST = """\
name: {name}
os: debian-13
networks:
  management: {{cidr: {subnet}.0/29, domain: lab.example.org}}
node_types:
  h100: {{system: dgx-h100}}
nodes:
  - {{name: solo, type: h100, address: {subnet}.1, roles: [slurm-controller, slurm-compute]}}
slurm: {{version: "24.11"}}
storage:
  scratch: {{type: local, mount: /scratch, device: /dev/nvme1n1}}
host: {{ssh_adopt: false}}
"""


def clustergen(*arguments: str | Path, timeout: float = 1200) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clustergen", "lab", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def left_of(name: str) -> tuple[list[dict[str, str]], bool, bool]:
    engine = engines.find(None, run.store())
    work = Work(name)
    return nodes.running(engine, work), nodes.network(work) in engines.networks(engine), work.directory.exists()


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A lab of one node that is up."""
    place = tmp_path_factory.mktemp("lab") / "manifest.yaml"
    place.write_text(MANIFEST.format(name="test-lab-one", subnet="10.89.201"))
    try:
        done = clustergen("up", place)
        assert done.returncode == 0, done.stderr
        yield place
    finally:
        clustergen("down", place)
    assert left_of("test-lab-one") == ([], False, False)


def inside(manifest: Path, script: str) -> str:
    done = clustergen("shell", "--name", manifest, "solo", "--", "sh", "-c", script, timeout=180)
    return done.stdout + done.stderr


def test_a_node_is_reached_as_a_machine_is(manifest: Path) -> None:
    work = Work("test-lab-one")
    program = str(Path(sys.executable).with_name("ansible"))
    done = subprocess.run(
        [program, "all", "-m", "ansible.builtin.command", "-a", "hostname"],
        env=work.environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[-1] == "solo"


def until_running(manifest: Path) -> None:
    """After a restart, systemd's socket is absent for a moment."""
    end = time.monotonic() + PATIENCE
    while (state := inside(manifest, "systemctl is-system-running --wait").strip()) != "running":
        assert time.monotonic() < end, state
        time.sleep(0.3)


def test_a_node_is_booted_by_systemd_and_keeps_its_devices(manifest: Path) -> None:
    until_running(manifest)
    assert inside(manifest, "ls /dev/nvidia?; nvidia-smi --query-gpu=index --format=csv,noheader").split()[-1] == "7"
    engine = engines.find(None, run.store())
    engine.run("restart", "--time", "0", nodes.container(Work("test-lab-one"), "solo"))
    until_running(manifest)
    assert inside(manifest, "ls /dev/nvidia?").split()[-1] == "/dev/nvidia7"


def test_a_node_cannot_harm_the_machine(manifest: Path) -> None:
    assert "cannot set date" in inside(manifest, "date -s 2001-01-01")
    before = Path("/proc/sys/kernel/pid_max").read_text()
    assert "denied" in inside(manifest, "sysctl kernel.pid_max=99999")
    assert Path("/proc/sys/kernel/pid_max").read_text() == before
    assert inside(manifest, "find /dev -type b") == ""
    assert "not permitted" in inside(manifest, "mknod /root/disk b 8 0 && head -c 1 /root/disk")


def test_up_again_leaves_what_runs(manifest: Path) -> None:
    began = inside(manifest, "systemctl show -p UserspaceTimestampMonotonic --value")
    assert clustergen("up", manifest).returncode == 0
    assert inside(manifest, "systemctl show -p UserspaceTimestampMonotonic --value") == began


def test_a_node_that_was_stopped_is_named_and_started_as_it_was(manifest: Path) -> None:
    inside(manifest, "echo mine >/root/note")
    engines.find(None, run.store()).run("stop", "--time", "2", nodes.container(Work("test-lab-one"), "solo"))
    done = clustergen("apply", manifest)
    assert done.returncode == 3
    assert "nodes of the lab test-lab-one are stopped: solo" in done.stderr
    assert "clustergen lab up" in done.stderr
    assert clustergen("up", manifest).returncode == 0
    assert inside(manifest, "cat /root/note").strip() == "mine"
    assert inside(manifest, "systemctl is-active ssh").strip() == "active"


def test_a_node_loses_its_network_or_its_power_and_is_revived(manifest: Path) -> None:
    config = str(Work("test-lab-one").ssh_config)

    def answers() -> bool:
        command = ["ssh", "-F", config, "-o", "ConnectTimeout=2", "solo", "true"]
        return subprocess.run(command, capture_output=True, timeout=300, check=False).returncode == 0

    def fault(*words: str) -> tuple[int, str]:
        done = clustergen("fault", "--name", manifest, *words)
        return done.returncode, done.stderr

    assert fault("cut", "solo") == (0, "  solo: cut off\n")
    assert not answers()
    assert re.search(r"^solo +10\.89\.201\.1 +cut off ", clustergen("status", manifest).stdout)
    assert fault("revive") == (0, "  solo: connected\n")
    assert answers()
    assert fault("kill", "solo") == (0, "  solo: off\n")
    status, words = fault("cut", "solo")
    assert (status, "node solo is off" in words) == (3, True)
    assert fault("revive", "solo") == (0, "  solo: on\n")
    assert answers()
    status, words = fault("kill", "solo2")
    assert (status, "node solo2 is not in lab test-lab-one" in words) == (2, True)


def test_a_node_that_runs_gets_the_directories_users_and_gpus_of_the_manifest(manifest: Path) -> None:
    before = manifest.read_text()
    manifest.write_text(
        before.replace("host:", "  data: {type: local, mount: /data, device: /dev/nvme2n1}\nhost:")
        .replace('version: "24.11"', 'version: "24.11", accounts: {a: {users: [zoe, ann]}}')
        .replace("roles: [", "roles: [slurm-accounting, ")
        .replace("system: dgx-h100", "system: dgx-h100, gpus: {count: 4}")
    )
    try:
        done = clustergen("up", manifest)
        assert "solo: mounted /data, added user ann, added user zoe, GPUs: 4" in done.stderr, done.stderr
        assert "no such user" not in inside(manifest, "touch /data/mine; id ann zoe")
        assert inside(manifest, "ls /dev/nvidia?").split()[-1] == "/dev/nvidia3"
        engines.find(None, run.store()).run("restart", "--time", "0", nodes.container(Work("test-lab-one"), "solo"))
        until_running(manifest)
        assert inside(manifest, "ls /data").split() == ["mine"]
        assert "/shared/scratch@solo]" in inside(manifest, "findmnt -no SOURCE /scratch")
    finally:
        manifest.write_text(before)
    done = clustergen("up", manifest)
    assert "solo: GPUs: 8\n" in done.stderr
    assert "mounted" not in done.stderr
    assert inside(manifest, "ls /data").split() == ["mine"]  # which goes when the manifest is applied


def test_another_network_needs_another_lab(manifest: Path) -> None:
    before = manifest.read_text()
    manifest.write_text(before.replace(".0/29", ".0/28"))
    try:
        done = clustergen("up", manifest)
        assert "has the management network 10.89.201.0/29, the manifest 10.89.201.0/28" in done.stderr
        assert "clustergen lab down test-lab-one" in done.stderr
    finally:
        manifest.write_text(before)
    assert clustergen("up", manifest).returncode == 0


def test_a_lab_is_stopped_and_started_as_it_was(manifest: Path) -> None:
    inside(manifest, "echo mine >/root/note")
    assert clustergen("stop", manifest).stderr == "1 nodes of test-lab-one stopped\n"
    assert re.search(rf"^test-lab-one +0 of 1 nodes running +{manifest}$", clustergen("list").stdout, re.MULTILINE)
    refused = clustergen("shell", "--name", "test-lab-one", "solo")
    assert (refused.returncode, "node solo is not running" in refused.stderr) == (3, True)
    assert clustergen("start", "test-lab-one").stderr.endswith("1 nodes of test-lab-one started\n")
    assert inside(manifest, "cat /root/note").strip() == "mine"
    assert re.search(r"^solo +10\.89\.201\.1 +running ", clustergen("status", manifest).stdout)


def test_a_node_is_entered_by_ssh_and_shows_its_journal(manifest: Path) -> None:
    command = ["ssh", "-F", Work("test-lab-one").ssh_config, "solo", "hostname"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    assert done.stdout == "solo\n", done.stderr
    assert "ssh" in clustergen("logs", "--name", manifest, "solo", "-u", "ssh", "-n", "50").stdout


def test_an_image_of_one_s_own_makes_other_nodes(manifest: Path, tmp_path: Path) -> None:
    engine = engines.find(None, run.store())
    image = "localhost/clustergen-test-lab:own"
    engine.run("commit", nodes.container(Work("test-lab-one"), "solo"), image, timeout=200)
    place = tmp_path / "manifest.yaml"
    place.write_text(MANIFEST.format(name="test-lab-four", subnet="10.89.204"))
    try:
        done = clustergen("up", place, "--image", f"debian-13={image}")
        assert done.returncode == 0, done.stderr
        keys = [
            clustergen("shell", "--name", m, "solo", "--", "cat", "/etc/ssh/ssh_host_ed25519_key.pub")
            for m in (manifest, place)
        ]
        assert keys[0].stdout.startswith("ssh-ed25519")
        assert keys[1].stdout.startswith("ssh-ed25519")
        assert keys[0].stdout != keys[1].stdout
    finally:
        clustergen("down", place)
        engine.run("image", "rm", "--force", image, check=False)
    assert left_of("test-lab-four") == ([], False, False)


def test_an_interruption_leaves_nothing_and_spares_the_other_lab(manifest: Path, tmp_path: Path) -> None:
    place = tmp_path / "manifest.yaml"
    place.write_text(MANIFEST.format(name="test-lab-two", subnet="10.89.202"))
    with subprocess.Popen(
        [sys.executable, "-m", "clustergen", "lab", "up", str(place)], stderr=subprocess.PIPE, text=True
    ) as started:
        deadline = time.monotonic() + 240
        while not left_of("test-lab-two")[0] and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(started.pid, signal.SIGINT)
        _, words = started.communicate(timeout=240)
    assert started.returncode == 130
    assert "interrupted; everything was removed" in words
    assert left_of("test-lab-two") == ([], False, False)
    assert [row["state"] for row in left_of("test-lab-one")[0]] == ["running"]


def test_a_subnet_in_use_is_reported(manifest: Path, tmp_path: Path) -> None:
    place = tmp_path / "manifest.yaml"
    place.write_text(MANIFEST.format(name="test-lab-three", subnet="10.89.201"))
    done = clustergen("up", place)
    assert done.returncode == 3
    assert "10.89.201.0/29 is in use on this machine" in done.stderr
    assert "--subnet" in done.stderr
    assert left_of("test-lab-three") == ([], False, False)


STAND_IN = "[Service]\nExecStart=/bin/sleep infinity\n"
# mount(8) runs it as the kernel of this machine has no NFS; the file is the server.
MOUNT_NFS = '#!/bin/sh\n[ -e /run/server ] || { echo "server: no route to host"; exit 32; }\nmount -t tmpfs home "$2"\n'
MANAGER = "/etc/systemd/system"


def test_slurmd_and_the_mount_that_it_waits_for_are_tried_until_the_server_comes(
    manifest: Path, tmp_path: Path
) -> None:
    home = {"type": "nfs", "mount": "/home", "server": "nfs", "path": "/home"}
    files = node_files(tree_of(small(storage={"home": home}), tmp_path), "c1")
    names = ("home.mount", "clustergen-retry@.timer", "slurmd.service.d/40-mount-home.conf")
    texts = {f"{MANAGER}/{name}": files[f"{MANAGER}/{name}"].content.decode() for name in names}
    ours = files[f"{MANAGER}/slurmd.service.d/50-clustergen.conf"].content.decode()
    restarts = "".join(line for line in ours.splitlines(keepends=True) if line.startswith("Restart"))
    texts |= {f"{MANAGER}/slurmd.service": STAND_IN + restarts, "/usr/sbin/mount.nfs": MOUNT_NFS}
    for path, text in texts.items():
        inside(manifest, f"mkdir -p $(dirname {path}); cat >'{path}' <<'END'\n{text}END\nchmod 755 {path}")
    inside(manifest, "systemctl daemon-reload; systemctl start slurmd")
    status = inside(manifest, "systemctl status slurmd home.mount; systemctl list-timers 'clustergen-retry@*'")
    assert re.search(r"waits for file system .* /home \(code=exited, status=1", status), status
    assert "server: no route to host" in status
    assert "clustergen-retry@home.mount.timer" in status
    inside(manifest, "touch /run/server")
    end = time.monotonic() + PATIENCE
    while (states := inside(manifest, "systemctl is-active slurmd home.mount").split()) != ["active", "active"]:
        assert time.monotonic() < end, states
        time.sleep(1)
    inside(manifest, "rm /run/server; systemctl stop home.mount; systemctl start home.mount; systemctl stop home.mount")
    assert "home.mount" not in inside(manifest, "systemctl list-timers 'clustergen-retry@*'")
