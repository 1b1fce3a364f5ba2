"""Files that were put on this node, and effects that are still to be carried out: /var/lib/clustergen/state.json.

The journal is written before the first file is replaced, so that a run that was cut off is carried on by the next.
"""

from __future__ import annotations

import json
import os

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files, safe_write

DIRECTORY = "/var/lib/clustergen"
PLACE = DIRECTORY + "/state.json"


def read():
    """{"files": {target: {"sha256", "effect"}}, "pending": [effect], "units": [unit], "tree": str, "boot": str}; empty where nothing was put
    yet. `units`: those that trees have started and none has stopped.
    """
    content = safe_files.read_json(PLACE, {})
    pending = content.get("pending", [])
    if content.get("boot") != boot():  # somebody has rebooted it since
        pending = [effect for effect in pending if effect != "reboot"]
    return {
        "files": content.get("files", {}),
        "pending": pending,
        "units": content.get("units", []),
        "tree": content.get("tree", ""),
        "boot": boot(),
    }


def boot():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def write(state):
    os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
    os.chmod(DIRECTORY, 0o700)
    safe_write.replace(PLACE, (json.dumps(state, indent=1, sort_keys=True) + "\n").encode(), sync=True)


def add_pending(state, effects):
    state["pending"] += [effect for effect in effects if effect not in state["pending"]]


def done(effect):
    """Takes one effect off the list, at once, so that it is not carried out twice."""
    state = read()
    if effect in state["pending"]:
        state["pending"].remove(effect)
        if effect.startswith("stop:"):
            state["units"] = [unit for unit in state["units"] if unit != effect[len("stop:") :]]
        write(state)
