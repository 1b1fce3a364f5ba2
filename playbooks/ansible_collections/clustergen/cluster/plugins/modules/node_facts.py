#!/usr/bin/python
"""Collects what commands print about this node: bounded in time and size, and without a change to it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_facts
short_description: Collects what commands print about a node
description: Runs all commands at once, each with a limit of time and of bytes. It changes nothing.
author: The clustergen developers
options:
  commands:
    description: Lines for sh by the name of the file that their output is for.
    type: dict
    required: true
  seconds:
    description: Limit of time of each command.
    type: int
    default: 30
  most:
    description: Limit of bytes of each output.
    type: int
    default: 1048576
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: Which kernel runs?
  clustergen.cluster.node_facts:
    commands: {uname: uname -r}
"""
RETURN = r"""
files:
  description: Outputs by name, compressed; commands that print nothing are left out.
  returned: always
  type: dict
late:
  description: Commands that did not end in time.
  returned: always
  type: list
large:
  description: Commands that printed more than the limit.
  returned: always
  type: list
"""

import base64
import contextlib
import os
import signal
import subprocess
import threading
import time
import zlib

from ansible.module_utils.basic import AnsibleModule

PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:/opt/slurm/sbin:/opt/slurm/bin"
MOST_TOGETHER = 4 << 20


class Running:
    """One command, whose output is read by a thread of its own."""

    def __init__(self, line, most):
        self.most = most
        self.parts = []
        self.size = 0
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LC_ALL": "C", "PATH": PATH},
            start_new_session=True,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while self.size <= self.most:
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                return
            self.parts.append(part)
            self.size += len(part)
        self.end()

    def end(self):
        """Ends it with all that it started. One that hangs in a driver is left behind."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def finish(self, deadline):
        """Whether it ended in time."""
        self.reader.join(max(0, deadline - time.monotonic()))
        is_late = self.reader.is_alive()
        self.end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        self.reader.join(2)
        if not self.reader.is_alive():
            self.process.stdout.close()
        return not is_late


def main():
    module = AnsibleModule(
        argument_spec={
            "commands": {"type": "dict", "required": True},
            "seconds": {"type": "int", "default": 30},
            "most": {"type": "int", "default": 1 << 20},
        },
        supports_check_mode=True,
    )
    limits = module.params
    running = {name: Running(line, limits["most"]) for name, line in sorted(limits["commands"].items())}
    deadline = time.monotonic() + limits["seconds"]
    files, late, large, left = {}, [], [], MOST_TOGETHER
    for name, command in running.items():
        if not command.finish(deadline):
            late.append(name)
        elif command.size > limits["most"]:
            large.append(name)
        elif command.size:
            packed = base64.b64encode(zlib.compress(b"".join(command.parts), 6)).decode("ascii")
            left -= len(packed)
            if left < 0:
                large.append(name)
            else:
                files[name] = packed
    module.exit_json(changed=False, files=files, late=late, large=large)


if __name__ == "__main__":
    main()
