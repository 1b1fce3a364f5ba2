#!/usr/bin/python3
"""Powers down nodes of a cloud that are DOWN: slurmctld leaves a node that was lost or did not start as it is, and
after the power-down a job may start it anew. Drained nodes are left alone.

    clustergen-cloud-nodes   a timer of the controllers runs it; messages go to the journal

exit 0 done, or slurmctld does not respond; 1 slurmctld refused
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

VALUES = json.loads(Path("/etc/clustergen/cloud-nodes.json").read_text(encoding="utf-8"))
NODES: str = VALUES["nodes"]  # a host list
WAIT = timedelta(seconds=VALUES["wait_s"])  # from DOWN to the power-down; the alert on a DOWN node fires before
CHANGING = "#%!"  # behind a state: starting, going off, to go off


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)


def lost(table: str, moment: datetime) -> dict[str, str]:
    """Nodes that were DOWN for long enough, with the reason; a node of two partitions is listed twice."""
    nodes: dict[str, str] = {}
    for row in table.splitlines():
        node, state, since, reason = row.split("|", 3)
        if state.rstrip("*~$@^-") != "down" or state[-1] in CHANGING:
            continue
        try:
            is_due = moment - datetime.fromisoformat(since) >= WAIT
        except ValueError:  # Unknown
            is_due = True
        if is_due:
            nodes[node] = reason
    return nodes


def main() -> None:
    answer = run("sinfo", "--all", "--Node", "--noheader", f"--nodes={NODES}", "--format=%N|%T|%H|%E")
    if answer.returncode != 0:
        print(answer.stderr.strip(), file=sys.stderr)
        return
    nodes = lost(answer.stdout, datetime.now())
    refused = False
    for node, reason in nodes.items():
        done = run("scontrol", "update", f"NodeName={node}", "State=POWER_DOWN")
        words = "powered down, a job may start it anew" if done.returncode == 0 else done.stderr.strip()
        print(f"{node}: DOWN ({reason}): {words}", file=sys.stderr)
        refused |= done.returncode != 0
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
