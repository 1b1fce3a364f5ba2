"""A terminated `lab apply`: the playbook ends, and what its workers have begun."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from apply.test_interruption import PLAY, is_running
from clustergen import child_process
from clustergen.lab import engine as engines
from clustergen.lab import nodes, run
from clustergen.lab.engine import Engine
from lab.test_played import KEY, lab, up
from strategies.output_faults import separately
from strategies.played_engine import Podman


def terminated(directory: str) -> list[object]:
    """How `lab apply` ends by SIGTERM in its task, and the process of that; on an engine on paper."""
    os.environ["CLUSTERGEN_LAB"] = directory
    (Path(directory) / "podman").mkdir()
    podman = Podman(answer=lambda _node, script: KEY if "authorized_keys" in script else "")
    engine = Engine("podman", "/usr/bin/podman", Path(directory) / "podman", hybrid=False)
    engines.subprocess = podman.starting()  # type: ignore[attr-defined, assignment]
    run.engine_of = lambda _work: engine
    nodes._routes, nodes._room = list, lambda _count: None  # type: ignore[assignment]
    made = lab()
    up(made)
    place = Path(directory) / "pid"
    (made.work.tree / "site.yml").write_text(PLAY.format(place=place), encoding="utf-8")

    def terminate() -> None:
        until = time.monotonic() + 400
        while not place.exists() and time.monotonic() < until:
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGTERM)

    stdout = os.dup(1)
    os.dup2(2, 1)  # the playbook prints to it
    child_process.end_with_us()
    threading.Thread(target=terminate).start()
    try:
        ending = f"status {run.apply(made, ['-e', 'ansible_python_interpreter=/usr/bin/python3'], lambda _: None)}"
    except KeyboardInterrupt:
        ending = "interrupted"
    os.dup2(stdout, 1)
    return [ending, int(place.read_text(encoding="utf-8"))]


@pytest.mark.slow
def test_a_terminated_lab_apply_takes_the_playbook_along(tmp_path: Path) -> None:
    ending, process = separately(terminated, str(tmp_path), timeout=600)
    assert ending == "interrupted"
    until = time.monotonic() + 30
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_running(process)
