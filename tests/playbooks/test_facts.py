"""The playbooks that record facts: what nodes print is bounded, and ends in their own directory."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils.outputs import Running
from ansible_collections.clustergen.cluster.plugins.plugin_utils import recording
from clustergen.hardware.discovery.recordings import Reader
from clustergen.hardware.discovery.script import COMMANDS, without_serials
from strategies.played_nodes import GOOD, PLAYBOOK, ROOT, Cluster, differs

UNAME = base64.b64encode(zlib.compress(b"6.12.9\n")).decode()
ANSWER = {"files": {"uname": UNAME}, "late": [], "large": []}
BOMB = base64.b64encode(zlib.compress(b"#" * (4 << 20))).decode()
LIES = {
    "bomb": ({**ANSWER, "files": {"uname": BOMB}}, "larger than 1048576 bytes"),
    "path": ({**ANSWER, "files": {"../../evil": UNAME}}, "was not part of the query"),
    "text": ({**ANSWER, "files": "x"}, "is not a mapping"),
    "nothing": ({}, "lacks files"),
    "escapes": (None, "no"),
    "late": ({**ANSWER, "late": ["nvidia-smi.csv"], "large": ["lspci"]}, ""),
}


@pytest.mark.slow
def test_drift_records_each_node_in_its_own_directory(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, list(LIES))
    state = GOOD | {"secrets": {}, "outputs": ANSWER}
    cluster.set_answer("node_state", state)
    for name, (outputs, _) in LIES.items():
        failure = {"failed": True, "msg": "\x1b[2Jno"}
        host = cluster.host_of[name]
        cluster.set_answer(
            f"{host}.node_state", state | {"host": host, "outputs": outputs} if outputs is not None else failure
        )
    unit = {"munge.service": {"load": "loaded", "active": False, "enabled": True}}
    cluster.set_answer("good1.node_state", state | differs(None, "/etc/hosts") | {"units": unit})
    cluster.set_answer("good2.node_state", state | {"host": "other"})
    facts = tmp_path / "facts"
    code, output, _ = cluster.play("-e", f"facts={facts}", playbook="clustergen.cluster.drift")
    assert code == 0, output
    reader = Reader(facts)
    assert {path.name for path in facts.iterdir()} == set(cluster.all)
    for name, (_, message) in LIES.items():
        node = reader.node(cluster.host_of[name])
        assert message in node.unreachable if message else node.unreachable == ""
    late = reader.node(cluster.host_of["late"])
    assert late.gpu_failure == "no answer in 30 s"
    assert late.unread == ("lspci: its output is too large",)
    good1, good2 = reader.node("good1"), reader.node("good2")
    assert good1.kernel == "6.12.9"
    assert good1.tree is not None
    assert (good1.tree.files, good1.tree.units, good1.tree.failure) == (("/etc/hosts",), ("munge.service",), "")
    assert good2.tree is not None
    assert good2.tree.failure.startswith("its hostname is other, not good2")
    asked = (cluster.answers / "asked").read_text(encoding="utf-8")
    assert set(re.findall(r"node_\w+", asked)) == {"node_state"}, "one question to each node, and nothing is changed"
    assert not (tmp_path / "evil").exists()


@pytest.mark.slow
def test_discover_records_any_inventory_and_goes_on_without_a_node(tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text(
        "here ansible_connection=local\ngone ansible_host=127.0.0.1 ansible_port=1\n[all:vars]\n"
        "ansible_python_interpreter=/usr/bin/python3\n",
        encoding="utf-8",
    )
    (tmp_path / "facts/here").mkdir(parents=True)
    (tmp_path / "facts/here/stale").write_text("x", encoding="utf-8")
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "playbooks"), "HOME": str(tmp_path)}
    command = [str(PLAYBOOK), "-i", "hosts.ini", "clustergen.cluster.discover", "-e", f"facts={tmp_path / 'facts'}"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    reader = Reader(tmp_path / "facts")
    assert reader.node("here").kernel == os.uname().release
    assert reader.node("here").cpus is not None
    assert reader.node("gone").unreachable
    assert not (tmp_path / "facts/here/stale").exists()
    assert {path.name for path in (tmp_path / "facts").iterdir()} == {"here", "gone"}


def test_a_command_that_hangs_is_ended_with_its_children() -> None:
    command = Running("sleep 987 & sleep 988", 1000)
    assert not command.finish(time.monotonic() + 0.2)
    assert not command.reader.is_alive(), "its children held the pipe"


def test_a_command_that_prints_for_ever_is_ended() -> None:
    command = Running("yes", 100_000)
    assert command.finish(time.monotonic() + 60)
    assert 100_000 < command.size < 1_000_000


def test_serial_numbers_stay_on_the_node() -> None:
    command = Running(without_serials("printf 'Serial Number: 7\\nModel: x\\n'; echo error >&2"), 1000)
    assert command.finish(time.monotonic() + 60)
    assert b"".join(command.parts) == b"Model: x\n"


@pytest.mark.parametrize("host", ["", "..", "a/b", "-x", "a b", "n" * 64])
def test_a_host_that_is_no_directory(host: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not a name for a directory"):
        recording.node_directory(str(tmp_path), host)


def test_values_of_the_tree_are_bounded() -> None:
    state = {
        "differs": [{"target": "/etc/hosts"}],
        "units": {},
        "leftovers": [],
        "slipped": [],
        "foreign": [],
        "packages": [],
        "paths": [],
    }
    document = json.loads(recording.tree_json(state, {"differs": [], "unlisted": []}, "x" * 10_000))
    assert len(document["failure"]) == 2000
    assert document["files"] == [], "another machine's files are no drift"


def test_no_command_writes() -> None:
    first = {command.split()[0] for command in COMMANDS.values()}
    assert first <= {
        "slurmd",
        "lscpu",
        "cat",
        "nvidia-smi",
        "ibstat",
        "grep",
        "dmidecode",
        "lspci",
        "lsblk",
        "ip",
        "ls",
        "uname",
        "sh",
    }
    (script,) = [command for command in COMMANDS.values() if command.startswith("sh ")]
    assert re.findall(r'mstconfig -d "\$\{link##\*/\}" (\w+)', script) == ["query"]
