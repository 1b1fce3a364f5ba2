"""`plan --against nodes` and `apply` with the real ansible-playbook; the nodes' answers are played."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from strategies.played_nodes import Cluster, differs, packed

pytestmark = pytest.mark.slow

_ANSIBLE = ("--", "-e", "ansible_python_interpreter=/usr/bin/python3")


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """Three nodes are up to date; n1 has another /etc/hosts."""
    played = Cluster(tmp_path, ["behind"])
    good = json.loads((played.answers / "node_state").read_text(encoding="utf-8"))
    played.set_answer("n1.node_state", good | {"host": "n1"} | differs(packed(b"# old\n"), "/etc/hosts"))
    played.set_answer("node_put", {"changed": True, "put": ["/etc/hosts"], "removed": [], "done": [], "not_asked": []})
    played.set_answer("run_mark", {"changed": False, "other": None})
    return played


def run(cluster: Cluster, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clustergen", *arguments],
        cwd=cluster.directory, env=cluster.environment(), stdin=stdin, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


def asked(cluster: Cluster) -> list[str]:
    place = cluster.answers / "asked"
    return place.read_text(encoding="utf-8").splitlines() if place.exists() else []


def test_a_plan_shows_drift_and_is_applied_while_the_nodes_are_the_same(cluster: Cluster) -> None:
    shutil.rmtree(cluster.directory / "rendered")
    plan = run(cluster, "plan", "--against", "nodes", "--out", "p.json")
    assert (plan.returncode, plan.stderr) == (1, "p.json: saved. Next: clustergen apply p.json\n")
    assert plan.stdout.splitlines()[-1] == "Plan: 1 of 4 nodes to change."
    assert "\n-# old\n" in plan.stdout
    assert not (cluster.directory / "rendered").exists()
    assert not [line for line in asked(cluster) if not line.endswith("node_state")]

    applied = run(cluster, "apply", "p.json", "--yes")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert "n1 node_put" in asked(cluster)
    assert (cluster.directory / "rendered/site.yml").exists()

    good = (cluster.answers / "node_state").read_text(encoding="utf-8")
    (cluster.answers / "n1.node_state").write_text(good, encoding="utf-8")
    done = run(cluster, "apply", "p.json", "--yes")
    assert done.returncode == 1
    assert "p.json: the nodes answer otherwise than when the plan was made" in done.stderr
    assert asked(cluster).count("n1 node_put") == 1


def test_a_node_that_does_not_answer_is_no_drift(cluster: Cluster) -> None:
    cluster.set_answer("n1.node_state", {"failed": True, "msg": "broken"})
    done = run(cluster, "apply", "--check", *_ANSIBLE)
    assert done.returncode == 3
    assert done.stdout.splitlines()[-3:] == [
        "Plan: no changes on 3 of 4 nodes, 1 node failed and could not be compared (n1).",
        "  n1: failed: broken",
        "   hint: correct the cause, then run it again; --limit HOSTS selects nodes",
    ]


@pytest.mark.parametrize("verb", [("plan", "--against", "nodes"), ("apply",)], ids=" ".join)
def test_where_no_node_can_be_reached_nothing_was_compared(cluster: Cluster, verb: tuple[str, ...]) -> None:
    """A real ssh to a port of this machine that nobody listens on, as each of the nodes."""
    (cluster.directory / "bin/ssh").unlink()
    terminal, line = pty.openpty()
    os.write(terminal, b"y\n")
    closed = ("--", "-e", '{"ansible_host": "127.0.0.1", "ansible_port": 9, "ansible_ssh_args": ""}')
    try:
        done = run(cluster, *verb, *closed, stdin=line)
    finally:
        os.close(terminal)
        os.close(line)
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines()[-3:] == [
        "Plan: nothing was compared, because none of 4 nodes could be reached.",
        "  good[1-2],head,n1: unreachable: ssh: connect to port 9: Connection refused",
        "   hint: check the addresses in the manifest, log in to one node with ssh, then run it again",
    ], done.stdout


@pytest.mark.parametrize(
    "verb",
    [
        ("plan", "--against", "nodes"),
        ("plan", "--against", "nodes", "--", "--limit", "head"),
        ("apply", "--yes"),
    ],
    ids=" ".join,
)
def test_the_starter_connects_to_no_other_host(cluster: Cluster, verb: tuple[str, ...]) -> None:
    (cluster.directory / "new").mkdir()
    assert run(cluster, "init", "new").returncode == 0
    done = run(cluster, verb[0], "new/manifest.yaml", *verb[1:])
    assert (done.returncode, done.stdout) == (2, "")
    assert "head,gpu[1-4] have addresses of 192.0.2.0/24" in done.stderr
    assert not asked(cluster)


def test_one_real_node_of_the_starter_can_be_asked(cluster: Cluster) -> None:
    """The others keep the addresses of examples until they are installed."""
    (cluster.directory / "new").mkdir()
    assert run(cluster, "init", "new").returncode == 0
    manifest = cluster.directory / "new/manifest.yaml"
    text = manifest.read_text(encoding="utf-8").replace("192.0.2.0/24", "192.0.0.0/16")
    manifest.write_text(text.replace("address: 192.0.2.10", "address: 192.0.3.10"), encoding="utf-8")
    refused = run(cluster, "plan", "new", "--against", "nodes")
    assert "gpu[1-4] have addresses of 192.0.2.0/24" in refused.stderr
    done = run(cluster, "plan", "new", "--against", "nodes", "--", "--limit", "nobody")
    assert "reach no machine" not in done.stderr


def test_drift_as_json(cluster: Cluster) -> None:
    done = run(cluster, "plan", "--against", "nodes", "--format", "json", *_ANSIBLE)
    assert done.returncode == 1
    nodes = json.loads(done.stdout)["nodes"]
    assert (nodes["changed"], nodes["unchanged"], nodes["failed"]) == (["n1"], ["good1", "good2", "head"], [])
    assert "-# old" in done.stderr


@pytest.mark.parametrize(("answer", "status"), [(b"n\n", 1), (b"y\n", 0)])
def test_shown_changes_must_be_confirmed(cluster: Cluster, answer: bytes, status: int) -> None:
    terminal, line = pty.openpty()
    os.write(terminal, answer)
    try:
        done = run(cluster, "apply", "--limit", "n1,head", *_ANSIBLE, stdin=line)
    finally:
        os.close(terminal)
        os.close(line)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Plan: 1 of 2 nodes to change." in done.stdout
    assert ("n1 node_put" in asked(cluster)) is (status == 0)
    assert not [line for line in asked(cluster) if line.startswith("good")]


def test_a_playbook_that_fails_is_an_environment_that_fails(cluster: Cluster) -> None:
    cluster.set_answer("node_put", {"failed": True, "msg": "disk is full"})
    done = run(cluster, "apply", "--yes", *_ANSIBLE)
    assert done.returncode == 3
    assert "disk is full" in done.stdout
    assert "ansible-playbook ended with status" in done.stderr
    assert "run it again to carry on" in done.stderr
    other = run(cluster, "apply", "--yes", "--limit", "nope", *_ANSIBLE)
    assert other.returncode == 3
    assert "ansible-playbook ended with status" in other.stderr
    assert "carry on" not in other.stderr
