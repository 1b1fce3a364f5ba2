"""Outputs of commands on this node: all run at once, each bounded in time and size."""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import subprocess
import threading
import time
import zlib

PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:/opt/slurm/sbin:/opt/slurm/bin"
MOST_TOGETHER = 4 << 20
OPTIONS = {
    "commands": {"type": "dict", "default": {}},
    "seconds": {"type": "int", "default": 30},
    "most": {"type": "int", "default": 1 << 20},
}


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
        """True if it ended in time."""
        self.reader.join(max(0, deadline - time.monotonic()))
        is_late = self.reader.is_alive()
        self.end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        self.reader.join(2)
        if not self.reader.is_alive():
            self.process.stdout.close()
        return not is_late


def begin(commands, most):
    """Starts lines for `sh`: name → Running."""
    return {name: Running(line, most) for name, line in sorted(commands.items())}


def collect(running, seconds):
    """Their outputs when they have ended, at most `seconds` from now: {"files", "late", "large"}."""
    deadline = time.monotonic() + seconds
    files, late, large, left = {}, [], [], MOST_TOGETHER
    for name, command in running.items():
        if not command.finish(deadline):
            late.append(name)
        elif command.size > command.most:
            large.append(name)
        elif command.size:
            packed = base64.b64encode(zlib.compress(b"".join(command.parts), 6)).decode("ascii")
            left -= len(packed)
            if left < 0:
                large.append(name)
            else:
                files[name] = packed
    return {"files": files, "late": late, "large": large}
