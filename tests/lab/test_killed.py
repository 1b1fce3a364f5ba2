"""A lab whose processes were all killed, as at the end of a CI job: podman reports it as stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustergen.lab import engine as engines
from clustergen.lab import namespace, nodes, run
from clustergen.lab.engine import Engine
from clustergen.lab.work import Work
from clustergen.verify import slurm_roots

pytestmark = pytest.mark.container


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """podman with a store, and so a namespace, of its own: other labs run on."""
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path))
    engine = engines.find("podman", run.store())
    try:
        yield engine
    finally:
        nodes.remove(engine, Work("test-killed"))
        namespace.release(engine.store, lambda: True)
        assert not namespace.run_directory(engine.store).exists()


def test_a_lab_that_was_killed_can_be_started_again(engine: Engine) -> None:
    work = Work("test-killed")
    engine.run(
        "network", "create", "--subnet", "10.89.206.0/29", "--label", f"{nodes.LABEL}={work.name}", nodes.network(work)
    )
    engine.run(
        "run", "--detach", "--name", "solo", "--network", nodes.network(work), "--ip", "10.89.206.2",
        "--label", f"{nodes.LABEL}={work.name}", "--label", "clustergen.node=solo",
        "--rootfs", f"{slurm_roots.parsers_directory() / 'bookworm'}:O", "/bin/sleep", "1000",
    )  # fmt: skip
    form = "{{.State.ConmonPid}} {{.State.Pid}}"
    processes = [int(pid) for pid in engine.run("inspect", "solo", "--format", form).stdout.split()]
    holder = [namespace.anchor(engine.store)] if engine.hybrid else []
    for process in processes + holder:
        os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{process}/exe").exists() for process in processes + holder):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert [row["node"] for row in nodes.running(engine, work) if row["state"] != "running"] == ["solo"]
    engine.run("start", "solo")
    assert [row["state"] for row in nodes.running(engine, work)] == ["running"]
    assert nodes.remove(engine, work) == 1
    routes = subprocess.run(["ip", "route"], capture_output=True, text=True, timeout=300, check=True).stdout
    assert "10.89.206" not in routes
