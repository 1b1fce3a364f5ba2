"""A connection that answers at once, in place of nodes: what is left of a run is the work of the control host.

It answers the module `node_state` of a node that is as its tree, and `ping`; it runs nothing.
"""

from __future__ import annotations

import json
import re
import time

from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: stub
short_description: Answers for hosts that do not exist
description: Measures the control side of a play.
author: The clustergen developers
options:
  remote_addr:
    description: Name of the host.
    type: str
    vars: [{name: inventory_hostname}]
"""


class Connection(ConnectionBase):
    """Pipelined modules alone."""

    transport = "stub"
    has_pipelining = True
    always_pipeline_modules = True

    def _connect(self):
        self._connected = True
        return self

    def exec_command(self, cmd, in_data=None, sudoable=True):
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        if in_data is None:
            return 0, b"", b""
        return 0, json.dumps(_answer(self.get_option("remote_addr"), in_data)).encode(), b""

    def put_file(self, in_path, out_path):
        """Nothing is copied where modules are pipelined."""

    def fetch_file(self, in_path, out_path):
        """Nothing is fetched."""

    def close(self):
        self._connected = False


def _answer(host, module):
    if b"node_state" not in module:
        return {"changed": False, "ping": "pong"}
    return {
        "changed": False,
        "differs": [],
        "leftovers": [],
        "foreign": [],
        "slipped": [],
        "unrecorded": False,
        "mounts": {},
        "hiding": [],
        "effects_of": {},
        "pending": [],
        "packages": [],
        "paths": [],
        "modules": [],
        "started": [],
        "units": {},
        "secrets": _secrets(module),
        "running": [],
        "drained": [],
        "root": True,
        "host": host,
        "last_run": "none",
        "os": {"id": "debian", "version": "13", "codename": "trixie", "machine": "x86_64"},
        "clock": time.time(),
        "free": {"/": {"mib": 100000, "inodes": None}},
        "read_only": [],
        "unwritable": None,
        "systemd": True,
        "outputs": {"files": {}, "late": [], "large": []},
    }


def _secrets(module):
    """All nodes have the same keys."""
    return dict.fromkeys(re.findall(r"/etc/munge/munge\.key", module.decode("utf-8", "replace"))[:1], "0" * 64)
