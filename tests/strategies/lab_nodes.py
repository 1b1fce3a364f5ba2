"""Commands on a lab's nodes without a new `clustergen lab shell` for each, which takes four times the CPU time."""

from __future__ import annotations

import subprocess
from functools import cache

from clustergen.lab import engine as engines
from clustergen.lab import nodes, run
from clustergen.lab.engine import Engine
from clustergen.lab.work import Work


@cache
def _engine() -> Engine:
    return engines.find(None, run.store())


def on_node(work: Work, node: str, script: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """What a script does as root in a node's container."""
    command = _engine().command("exec", "-i", nodes.container(work, node), "sh", "-c", script)
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
    )
