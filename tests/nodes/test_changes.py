"""Changes of the manifest: what `clustergen diff` says of them is what Slurm's daemons and the jobs go through.

Each test changes the cluster that the one before left; the last brings the first manifest back.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from clustergen.hostlist import expand
from clustergen.lab import engine as engines
from clustergen.lab import nodes, run
from clustergen.lab.model import Wish

if TYPE_CHECKING:
    from tests.nodes.conftest import Applied, Document, Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

HEAD = "slurm-head"
RECONFIGURED = "Processing Reconfiguration Request"


class Verdict(NamedTuple):
    """The verdict of `clustergen diff`."""

    effects: dict[tuple[str, str], list[str]]  # kind of thing, key → effects
    values: dict[tuple[str, str], str]  # … → the new value
    restarts: set[str]  # daemon@host
    reconfigures: bool
    drains: set[str]
    refuses: bool


def verdict(old: Path, new: Path) -> Verdict:
    done = subprocess.run(
        [sys.executable, "-m", "clustergen", "diff", str(old), str(new), "--format", "json"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (plan,) = json.loads(done.stdout)["clusters"]
    effects = {
        (change["kind"], change["key"] or ""): [effect["kind"] for effect in change["effects"]]
        for change in plan["changes"]
    }
    values = {(change["kind"], change["key"] or ""): change["new"] or "" for change in plan["changes"]}
    by_text = {step["text"]: set(expand(step["hosts"])) if step["hosts"] else set() for step in plan["steps"]}
    restarts = {
        f"{match[1]}@{host}"
        for text, hosts in by_text.items()
        if (match := re.match(r"(?:re)?start (slurmctld|slurmdbd|slurmd)\b", text))
        for host in hosts
    }
    return Verdict(
        effects,
        values,
        restarts,
        "scontrol reconfigure, once" in by_text,
        by_text.get("drain, and wait for their jobs", set()),
        any(step["play"] == "Jobs at risk" for step in plan["steps"]),
    )


def daemons(lab: Lab) -> dict[str, str]:
    """daemon@host → what its present run is called; another name, another start."""
    values = {}
    for host in lab.addresses():
        units = ("slurmctld", "slurmdbd") if host == HEAD else ("slurmd",) if host.startswith("compute") else ()
        for unit in units:
            values[f"{unit}@{host}"] = lab.out(host, f"systemctl show -p InvocationID --value {unit}")
    return values


def reconfigured(lab: Lab) -> int:
    """The number of reconfigure requests in the log of slurmctld."""
    return int(lab.run(HEAD, f"grep -hci '{RECONFIGURED}' /var/log/slurm/slurmctld.log").stdout or 0)


class Done(NamedTuple):
    """A change that was applied."""

    verdict: Verdict
    applied: Applied
    restarted: set[str]
    reconfigured: int


def change(lab: Lab, tmp_path: Path, function: Callable[[Document], object]) -> tuple[Verdict, Callable[..., Done]]:
    """Edits and renders; the verdict, and what applies it."""
    old, new = tmp_path / "old", tmp_path / "new"
    for directory in (old, new):
        directory.mkdir(exist_ok=True)
    shutil.copy(lab.work.manifest, old / "manifest.yaml")
    lab.edit(function)
    shutil.copy(lab.work.manifest, new / "manifest.yaml")
    output = verdict(old / "manifest.yaml", new / "manifest.yaml")

    def apply(*arguments: str) -> Done:
        before, count = daemons(lab), reconfigured(lab)
        applied = lab.apply(*arguments)
        after = daemons(lab)
        restarted = {name for name, run_ in before.items() if after.get(name, run_) != run_}
        return Done(output, applied, restarted, reconfigured(lab) - count)

    return output, apply


def restarts_as_predicted(done: Done) -> None:
    """Exactly the daemons that `clustergen diff` named have restarted, and the playbook printed each."""
    assert done.applied.rc == 0, done.applied.stdout + done.applied.stderr
    assert done.restarted == done.verdict.restarts, done.applied.stdout
    assert (done.reconfigured > 0) == (done.verdict.reconfigures or "slurmctld@" + HEAD in done.restarted)
    for name in done.restarted:
        daemon, _, _ = name.partition("@")
        assert re.search(rf"changed: .*(restart-{daemon}|restart-slurm\b|start:{daemon})", done.applied.stdout), name


def job(lab: Lab, node: str = "compute03", script: str = "sleep 3000") -> str:
    """A running job with one GPU of a node."""
    words = f"sbatch --parsable -D /tmp -o /dev/null -w {node} --gpus=1 --no-requeue"
    number = lab.out("login1", f"runuser -u alice -- {words} --wrap '{script}'")
    lab.waits(HEAD, f"squeue -h -j {number} -o %T", r"\ARUNNING")
    return number


def gpus(lab: Lab) -> set[str]:
    """The GRES of the nodes, by sinfo, without their sockets."""
    return set(re.findall(r"gpu:\w+:\d+", lab.out(HEAD, "sinfo -h -N -o %G")))


def start_of(lab: Lab, number: str) -> str:
    """State, start and restarts of a job."""
    output = lab.out(HEAD, f"scontrol show job {number}")
    return " ".join(re.findall(r"(?:JobState|StartTime|Restarts)=\S+", output))


@pytest.fixture(scope="module")
def survivor(lab: Lab) -> Iterator[str]:
    """A job that runs from the first of these changes on."""
    number = job(lab)
    yield number
    lab.out(HEAD, f"scancel {number}")


def test_a_limit_the_memory_of_nodes_and_switches_take_one_reconfigure(lab: Lab, tmp_path: Path, survivor: str) -> None:
    before = start_of(lab, survivor)

    def edit(document: Document) -> None:
        document["slurm"]["partitions"]["debug"]["max_time"] = "00:45:00"
        document["node_types"]["h100"]["memory"] = "1.25TiB"
        fabric = document["networks"]["fabric"]
        up = {"uplinks": [{"to": "ib-spine1", "links": 4}]}
        leaf = fabric["switches"][0] | up
        fabric["switches"] = [
            leaf | {"nodes": "compute[01-02],login1"},
            leaf | {"name": "ib-leaf2", "nodes": "compute[03-08]", "rack": "rack2"},
            {"name": "ib-spine1", "model": leaf["model"], "rack": "rack1"},
        ]

    output, apply = change(lab, tmp_path, edit)
    assert output.effects["partition", "MaxTime"] == ["reconfigure"]
    assert output.effects["node", "RealMemory"] == ["reconfigure"]
    assert any(kind == "switch" and "reconfigure" in effects for (kind, _), effects in output.effects.items())
    assert (output.restarts, output.drains) == (set(), set())
    done = apply()
    restarts_as_predicted(done)
    assert done.reconfigured == 1
    assert "MaxTime=00:45:00" in lab.out(HEAD, "scontrol show partition debug")
    assert f"RealMemory={output.values['node', 'RealMemory']} " in lab.out(HEAD, "scontrol show node compute01")
    shown = lab.out(HEAD, "scontrol show topology")
    assert re.search(r"SwitchName=ib-leaf2 .*Nodes=compute03", shown), shown
    assert start_of(lab, survivor) == before
    lab.waits(HEAD, "sinfo -h -N -n compute[01-02] -o %T | sort -u", r"\Aidle\s*\Z")


def test_the_state_of_slurmctld_moves_while_jobs_run(lab: Lab, tmp_path: Path, survivor: str) -> None:
    held = lab.out("login1", "runuser -u alice -- sbatch --parsable -D /tmp -o /dev/null -H --gpus=1 --wrap true")
    before, queue = start_of(lab, survivor), lab.out(HEAD, "squeue -h -o '%i %T'")

    def edit(document: Document) -> None:
        document["slurm"]["state_location"] = "/srv/slurm/state"

    output, apply = change(lab, tmp_path, edit)
    assert output.effects["key", "StateSaveLocation"] == ["move-state", "restart-slurmctld"]
    assert (output.restarts, output.drains, output.refuses) == ({f"slurmctld@{HEAD}"}, set(), False)
    done = apply()
    assert (done.applied.rc, done.restarted) == (0, output.restarts), done.applied.stdout + done.applied.stderr
    assert "StateSaveLocation       = /srv/slurm/state\n" in lab.out(HEAD, "scontrol show config") + "\n"
    assert lab.out(HEAD, "stat -c %U:%a /srv/slurm/state/job_state").startswith("slurm:")
    assert (start_of(lab, survivor), lab.out(HEAD, "squeue -h -o '%i %T'")) == (before, queue)
    lab.out(HEAD, f"scancel {held}")


@pytest.mark.long
def test_a_new_node(lab: Lab, tmp_path: Path, survivor: str) -> None:
    before = start_of(lab, survivor)
    shutil.copy(lab.work.manifest, tmp_path / "three.yaml")
    lab.up("--scale", "4")
    output = verdict(tmp_path / "three.yaml", lab.work.manifest)
    assert output.effects["node", ""] == ["reconfigure"]
    runs = daemons(lab)
    done = lab.apply()
    assert done.rc == 0, done.stdout
    after = daemons(lab)
    assert {name for name in runs if runs[name] != after[name]} - {"slurmd@compute04"} == output.restarts
    lab.waits(HEAD, "sinfo -h -n compute04 -o %T", r"\Aidle")
    assert "ok" in lab.out("login1", "timeout 30 srun -w compute04 --gpus=8 echo ok")
    assert start_of(lab, survivor) == before


@pytest.mark.long
def test_a_node_that_goes(lab: Lab, tmp_path: Path, survivor: str) -> None:
    before = start_of(lab, survivor)
    shutil.copy(lab.work.manifest, tmp_path / "four.yaml")
    Wish(scale=["3"]).over(Wish.read(lab.work.wish)).write(lab.work.wish)
    lab.render()
    output = verdict(tmp_path / "four.yaml", lab.work.manifest)
    assert output.effects["node", ""] == ["drain", "reconfigure"]
    runs = daemons(lab)
    done = lab.apply()
    assert done.rc == 0, done.stdout
    nodes.discard(engines.find(None, run.store()), [nodes.container(lab.work, "compute04")])
    after = daemons(lab)
    assert {name for name in after if runs[name] != after[name]} == output.restarts
    assert "compute04" not in lab.out(HEAD, "sinfo -h -N -o %N")
    assert start_of(lab, survivor) == before


def test_the_number_of_gpus_waits_for_the_jobs(lab: Lab, tmp_path: Path, survivor: str) -> None:
    lab.out(HEAD, f"scancel {survivor}")
    # It ends once it may and its node drains, however long that takes.
    drains = "[ -e /tmp/may-end ] && scontrol show node compute03 | grep -q State=.*DRAIN"
    lab.out("compute03", "rm -f /tmp/may-end")
    short = job(lab, script=f"until {drains}; do sleep 0.5; done")

    def edit(document: Document) -> None:
        document["node_types"]["h100"]["gpus"] = {"count": 4}
        # The nodes' device files stay eight, which the check would call a fault.
        document["health"] = {**document["health"], "gpu_count": False}

    output, apply = change(lab, tmp_path, edit)
    assert "drain" in output.effects["node", "Gres"]
    assert output.drains == {"compute01", "compute02", "compute03"}
    runs = daemons(lab)
    alone = lab.apply("--limit", HEAD)
    assert alone.rc != 0
    assert "no job runs on compute[01-03], which are not part of this run" in alone.stdout
    hasty = lab.apply("-e", "cluster_drain_timeout=1")
    assert hasty.rc != 0
    assert f"after 1 s still 1 job: {short} on compute03" in hasty.stdout
    assert "JobState=RUNNING" in start_of(lab, short)
    assert daemons(lab) == runs
    assert "gpu:h100:4" not in lab.out(HEAD, "cat /etc/slurm/slurm.conf")
    lab.out("compute03", "touch /tmp/may-end")
    done = apply()
    restarts_as_predicted(done)
    assert "JobState=COMPLETED" in start_of(lab, short)
    lab.idle()
    assert gpus(lab) == {"gpu:h100:4"}
    refused = lab.run("login1", "timeout 20 srun -N1 --gpus=8 true")
    assert refused.returncode != 0


def test_the_first_manifest_comes_back(lab: Lab) -> None:
    lab.clear()
    lab.restore()
    lab.settle()
    assert gpus(lab) == {"gpu:h100:8"}
