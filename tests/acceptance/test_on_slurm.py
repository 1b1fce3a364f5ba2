"""Acceptance on real Slurm with real ReFrame: one of three nodes is bad, one has a job, and a run is cut off."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clustergen.lab.work import Work
from strategies.lab_nodes import on_node

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "acceptance"
NET = "10.89.88"
PATIENCE = 240  # seconds for what a machine at rest does in a few; a wait ends as soon as it may
PLACE = "/var/lib/clustergen/acceptance"
QUICK = ("accept_seconds=1", "accept_file_size=8m", "accept_processes=1")
NODES = ("n1", "n2", "n3")


def manifest() -> dict[str, Any]:
    """Nodes as this machine is: a container sees its CPUs and its memory."""
    with Path("/proc/meminfo").open(encoding="ascii") as file:
        memory = int(re.findall(r"MemTotal:\s+(\d+)", file.read())[0]) // 1024
    return {
        "name": NAME,
        "os": "debian-13",
        "networks": {"management": {"cidr": f"{NET}.0/24", "domain": f"{NAME}.example.org"}},
        "node_types": {
            "small": {
                "cpu": {"sockets": 1, "cores_per_socket": os.cpu_count() or 1, "threads_per_core": 1},
                "memory": f"{memory}MiB",
                "real_memory": memory // 2,
            }
        },
        "nodes": [
            {
                "name": "head",
                "type": "service",
                "address": f"{NET}.1",
                "roles": ["slurm-controller", "slurm-accounting"],
            },
            {"name": "n[1-3]", "type": "small", "address": f"{NET}.[11-13]"},
        ],
        "slurm": {
            "version": "24.11",
            "partitions": {"all": {"nodes": "n[1-3]", "default": True, "max_time": "1-0"}},
            "accounts": {"staff": {"description": "Staff", "users": ["root"]}},
        },
        "storage": {
            "work": {
                "type": "nfs",
                "server": "nfs.example.org",
                "path": "/work",
                "mount": "/work",
                "clients": ["slurm-compute"],
                "required": False,
                "bandwidth": "1MB/s",
            }
        },
        "monitoring": {"enabled": False},
        "acceptance": {"enabled": True},
    }


class Lab:
    """The lab, and the playbooks that run against it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "manifest.yaml"
        self.file.write_text(json.dumps(manifest()), encoding="utf-8")
        self.wheels = folder / "wheels"
        self.work = Work(NAME)

    def command(self, *words: str) -> str:
        """A verb of clustergen that has to succeed."""
        done = subprocess.run(
            [sys.executable, "-m", "clustergen", *words], capture_output=True, text=True, timeout=1200, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def up(self) -> None:
        self.command("setup", "reframe", "--wheels", str(self.wheels))
        self.command("lab", "up", str(self.file), "--installed")
        self.command("lab", "apply", str(self.file))
        self.waits_for("sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")

    def down(self) -> None:
        self.command("lab", "down", str(self.file))

    def on(self, node: str, script: str) -> str:
        done = on_node(self.work, node, script)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def waits_for(self, script: str, words: str) -> str:
        """Until what a script on the head prints matches; what it printed then."""
        until = time.monotonic() + PATIENCE
        while not re.search(words, answer := self.on("head", script)):
            assert time.monotonic() < until, answer
            time.sleep(0.5)
        return answer

    def playing(self, book: str, *variables: str) -> subprocess.Popen[str]:
        program = Path(sys.executable).with_name("ansible-playbook")
        settings = (f"accept_wheels={self.wheels}", *QUICK, *variables)
        words = [word for variable in settings for word in ("-e", variable)]
        return subprocess.Popen(
            [str(program), f"clustergen.cluster.{book}", *words],
            env=self.work.environment(),
            cwd=self.work.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def play(self, book: str, *variables: str, status: int = 0) -> str:
        with self.playing(book, *variables) as process:
            answer, _ = process.communicate(timeout=900)
        assert process.returncode == status, answer
        return answer

    def report(self) -> dict[str, Any]:
        """The newest, as JSON; the Markdown beside it has every gate."""
        document: dict[str, Any] = json.loads(self.on("head", f"cat $(ls {PLACE}/reports/*.json | tail -n 1)"))
        page = self.on("head", f"cat $(ls {PLACE}/reports/*.md | tail -n 1)")
        assert all(result["gate"] in page for result in document["results"])
        return document

    def status(self) -> dict[str, str]:
        return {f"{one['gate']}@{','.join(one['hosts'])}": one["status"] for one in self.report()["results"]}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("acceptance"))
    try:
        made.up()
        yield made
    finally:
        made.down()


def test_a_bad_node_is_drained_with_the_gate_and_one_with_a_job_is_not_touched(lab: Lab) -> None:
    lab.on("n2", "umount -l /work")
    job = lab.on("head", "cd /tmp && sbatch --parsable -w n3 --wrap 'sleep 3000'").strip()
    lab.waits_for(f"squeue -h -j {job} -o %T", "RUNNING")

    answer = lab.play("accept", '{"accept_stages": ["presence", "node"]}', status=2)

    assert "small/mounts/work on n2: /work is not mounted" in answer
    states = dict(line.split("|") for line in lab.on("head", "sinfo -h -N -o '%N|%T'").split())
    assert (states["n1"], states["n2"]) == ("idle", "drained")
    reason = lab.on("head", "scontrol -o show node n2")
    assert "Reason=clustergen playbook: acceptance: small/mounts/work: /work is not mounted" in reason
    # The node with a job has it still, and nothing ran there.
    assert lab.on("head", f"squeue -h -j {job} -o %T").strip() == "RUNNING"
    report = lab.report()
    assert report["left_out"] == {"n3": "has jobs"}
    assert list(report["drained"]) == ["n2"]
    assert {host for result in report["results"] for host in result["hosts"]} == {"n1", "n2"}
    # Others go on, and the bad one takes part in no later gate.
    status = lab.status()
    kinds = ("hardware", "mounts/work", "scripts", "accounting", "cpu-burn", "storage/work", "metadata/work")
    assert {status[f"small/{kind}@n1"] for kind in kinds} == {"passed"}
    assert "small/cpu-burn@n2" not in status
    assert "clustergen-accept" not in lab.on("head", "scontrol show reservation")
    lab.on("head", f"scancel {job}")


def test_a_run_that_was_cut_off_goes_on_to_pairs_and_the_whole(lab: Lab) -> None:
    lab.on("n2", "mount /work 2>/dev/null || mount --bind /var/tmp /work")
    lab.play("resume", "nodes=n2")
    lab.waits_for("sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")
    process = lab.playing("accept", "accept_again=true")
    try:
        lab.waits_for(f"cat {PLACE}/state.json", r'"unfinished": true.*"small/mounts/work@n3"')
        lab.on("head", "kill -KILL $(lslocks -n -o PID,PATH | awk '/acceptance.lock/ {print $1}')")
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    before = json.loads(lab.on("head", f"cat {PLACE}/state.json"))
    assert not lab.on("head", "pgrep -f 'bin/[r]eframe' || true"), "ReFrame outlives the module"

    lab.play("accept")

    report = lab.report()
    assert report["begin"] == before["begin"]
    kept = {key: result for key, result in before["results"].items() if result["status"] == "passed"}
    results = {f"{one['gate']}@{','.join(one['hosts'])}": one for one in report["results"]}
    assert kept
    assert {key: results[key] for key in kept} == kept
    assert report["counts"]["failed"] == report["counts"]["not run"] == 0
    assert {pair for pair in results if pair.startswith("small/mpi-pair@")} == {
        f"small/mpi-pair@{pair}" for pair in ("n1,n2", "n2,n3", "n3,n1")
    }
    whole = results["small/mpi-whole@n1,n2,n3"]["readings"]
    assert (whole["ranks"], whole["hosts"], whole["wrong"]) == (3, 3, 0)
    assert results["small/storage-whole/work@n1,n2,n3"]["readings"]["write"] > 0
    assert lab.on("head", "sinfo -h -N -o %T | sort -u").strip() == "idle"
    assert json.loads(lab.on("head", f"cat {PLACE}/baseline.json"))["small/mpi-pair@n1,n2"]["bandwidth"] > 0
