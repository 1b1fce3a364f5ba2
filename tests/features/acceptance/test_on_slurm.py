"""Acceptance on real Slurm with real ReFrame: a bad node, one with a job, a run that is cut off, a node that dies."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clustergen.lab import engine as engines
from clustergen.lab import nodes, run
from strategies.lab_nodes import PATIENCE, LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "acceptance"
NET = "10.89.88"
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


class Lab(LabNodes):
    """The lab, and ReFrame's wheels for its playbooks."""

    def up(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "clustergen", "setup", "reframe", "--wheels", str(self.wheels)],
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        self.verb("up", "--installed")
        self.verb("apply")
        self.idle()

    @property
    def wheels(self) -> Path:
        return self.directory / "wheels"

    @property
    def settings(self) -> tuple[str, ...]:
        return (f"accept_wheels={self.wheels}", *QUICK)

    def idle(self) -> None:
        self.waits("head", "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")

    def kill(self, host: str) -> None:
        """Stop all processes at once, like a power failure."""
        engines.find(None, run.store()).run("kill", nodes.container(self.work, host))

    def report(self) -> dict[str, Any]:
        """The newest, as JSON; the Markdown beside it has every gate."""
        document: dict[str, Any] = json.loads(self.out("head", f"cat $(ls {PLACE}/reports/*.json | tail -n 1)"))
        page = self.out("head", f"cat $(ls {PLACE}/reports/*.md | tail -n 1)")
        assert all(result["gate"] in page for result in document["results"])
        return document

    def status(self) -> dict[str, str]:
        return {f"{one['gate']}@{','.join(one['hosts'])}": one["status"] for one in self.report()["results"]}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("acceptance"), NAME, json.dumps(manifest()))
    try:
        made.up()
        yield made
    finally:
        made.verb("down")


def test_a_bad_node_is_drained_with_the_gate_and_one_with_a_job_is_not_touched(lab: Lab) -> None:
    lab.out("n2", "umount -l /work")
    job = lab.out("head", "cd /tmp && sbatch --parsable -w n3 --wrap 'sleep 3000'").strip()
    lab.waits("head", f"squeue -h -j {job} -o %T", "RUNNING")

    answer = lab.play("accept", *lab.settings, '{"accept_stages": ["presence", "node"]}', status=(2,))

    assert "small/mounts/work on n2: /work is not mounted" in answer
    lab.waits("head", "sinfo -h -N -n n1,n2 -o '%N %T'", r"\An1 idle\sn2 drained\s*\Z")  # after its last job's epilog
    reason = lab.out("head", "scontrol -o show node n2")
    assert "Reason=clustergen playbook: acceptance: small/mounts/work: /work is not mounted" in reason
    # The node with a job has it still, and nothing ran there.
    assert lab.out("head", f"squeue -h -j {job} -o %T").strip() == "RUNNING"
    report = lab.report()
    assert report["left_out"] == {"n3": "has jobs"}
    assert list(report["drained"]) == ["n2"]
    assert {host for result in report["results"] for host in result["hosts"]} == {"n1", "n2"}
    # Others go on, and the bad one takes part in no later gate.
    status = lab.status()
    kinds = ("hardware", "mounts/work", "scripts", "accounting", "cpu-burn", "storage/work", "metadata/work")
    assert {status[f"small/{kind}@n1"] for kind in kinds} == {"passed"}
    assert "small/cpu-burn@n2" not in status
    assert "clustergen-accept" not in lab.out("head", "scontrol show reservation")
    lab.out("head", f"scancel {job}")


@pytest.mark.long
def test_a_run_that_was_cut_off_goes_on_to_pairs_and_the_whole(lab: Lab) -> None:
    lab.out("n2", "mount /work 2>/dev/null || mount --bind /var/tmp /work")
    lab.play("resume", "nodes=n2")
    lab.idle()
    process = lab.playing("accept", *(word for one in (*lab.settings, "accept_again=true") for word in ("-e", one)))
    try:
        lab.waits("head", f"cat {PLACE}/state.json", r'"unfinished": true.*"small/mounts/work@n3"')
        lab.out("head", "kill -KILL $(lslocks -n -o PID,PATH | awk '/acceptance.lock/ {print $1}')")
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    before = json.loads(lab.out("head", f"cat {PLACE}/state.json"))
    lab.waits("head", "pgrep -f 'bin/[r]eframe' || echo none", r"\Anone$")  # ReFrame ends with the module

    lab.play("accept", *lab.settings)

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
    lab.idle()
    assert json.loads(lab.out("head", f"cat {PLACE}/baseline.json"))["small/mpi-pair@n1,n2"]["bandwidth"] > 0


@pytest.mark.long
def test_a_node_that_dies_in_a_run_is_drained_and_the_others_go_on(lab: Lab) -> None:
    """Last, since n2 stays dead. It waits for the limit of a gate, which srun cannot end; the substitutes of
    test_reframe.py show the same in seconds.
    """
    without = '{"accept_stages": ["presence", "pair", "whole"], "accept_without": ["storage-whole"]}'
    words = (*lab.settings, without, "accept_again=true", "accept_patience=10")
    process = lab.playing("accept", *(word for one in words for word in ("-e", one)))
    try:
        lab.waits("head", "scontrol -o show reservation", "clustergen-accept.*Nodes=n.1-3")
        lab.kill("n2")
        answer, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 2, answer
    report = lab.report()
    assert re.fullmatch(r"acceptance: small/\S+: the node went down \(\S+\)", report["drained"].pop("n2"))
    assert report["drained"] == {}
    failed = {f"{one['gate']}@{','.join(one['hosts'])}" for one in report["results"] if one["status"] != "passed"}
    assert len(failed) == 1, "no later gate waits for it"
    status = lab.status()
    assert {status[gate] for gate in ("small/scripts@n1", "small/scripts@n3", "small/mpi-pair@n1,n3")} == {"passed"}
    assert status["small/mpi-whole@n1,n3"] == "passed"
    lab.waits("head", "scontrol -o show node n2", r"State=DOWN\+DRAIN")  # it stays out when it boots
    assert "clustergen-accept" not in lab.out("head", "scontrol show reservation")
