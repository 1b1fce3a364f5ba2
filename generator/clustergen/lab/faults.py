"""Faults of single nodes of a lab: the power is cut, or the network cable is pulled; and the repair."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clustergen.diagnostics import ClustergenError
from clustergen.lab import nodes
from clustergen.lab.engine import Engine

Row = Mapping[str, str]
_LINKS = "cd /sys/class/net; for name in *; do echo $(cat $name/ifindex $name/iflink); done"


def kill(engine: Engine, rows: Sequence[Row], report: Callable[[str], None]) -> None:
    """Ends all processes of nodes at once, as without power."""
    for row in rows:
        if row["state"] == "running":
            engine.run("kill", row["name"])
        report(f"{row['node']}: off")


def cut(engine: Engine, rows: Sequence[Row], report: Callable[[str], None]) -> None:
    """Takes the carrier from all interfaces of nodes, which run on."""
    for row in rows:
        if row["state"] != "running":
            raise ClustergenError(f"node {row['node']} is off", "run clustergen lab fault revive first")
        _link(engine, row, "down")
        report(f"{row['node']}: cut off")


def revive(engine: Engine, rows: Sequence[Row], report: Callable[[str], None]) -> None:
    """Repairs both: starts nodes that are off, and connects those that are cut off."""
    for row in rows:
        if row["state"] == "running":
            _link(engine, row, "up")
            report(f"{row['node']}: connected")
    stopped = [row for row in rows if row["state"] != "running"]
    nodes.wake(engine, stopped, lambda node: report(f"{node}: on"))


def is_cut(engine: Engine, row: Row) -> bool:
    """True if a running node has no carrier on an interface."""
    words = ("exec", row["name"], "sh", "-c", "cat /sys/class/net/*/carrier 2>/dev/null")
    return "0" in engine.run(*words, check=False).stdout.split()


def _link(engine: Engine, row: Row, state: str) -> None:
    """Sets this machine's end of each of a node's interfaces."""
    text = engine.run("exec", row["name"], "sh", "-c", _LINKS).stdout
    listed = subprocess.run(["ip", "-j", "link"], capture_output=True, text=True, timeout=10, check=True).stdout
    for name in peers(text, json.loads(listed)):
        subprocess.run(["ip", "link", "set", name, state], timeout=10, check=True)


def peers(text: str, links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of this machine's links that are the other ends of a node's, which lists index and peer of each. Both must
    name the other: an interface on top of another of the node names that, which has the number of any link here.
    """
    pairs = {tuple(map(int, line.split())) for line in text.splitlines()}
    return [link["ifname"] for link in links if (link.get("link_index"), link["ifindex"]) in pairs]
