"""Who is applying to this cluster: /run/clustergen/run.json on the controller that is asked, gone with the next boot."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files, safe_write

DIRECTORY = "/run/clustergen"
PLACE = DIRECTORY + "/run.json"
# A run that was killed gives no sign any more, and does not keep others away for longer.
SILENT_S = 900


def read():
    """{"id", "who", "host", "pid", "began", "open"} and `silent`, the seconds since its last sign; None where nobody ever applied."""
    try:
        content = safe_files.read_json(PLACE)
        return content and dict(content, silent=max(0.0, time.time() - os.stat(PLACE).st_mtime))
    except OSError:
        return None


def in_the_way(run, over=()):
    """The run that is not over yet, if it is another one than `run` and none of `over`."""
    mark = read()
    if mark and mark["open"] and mark["id"] not in (run, *over) and mark["silent"] < SILENT_S:
        return mark
    return None


def write(record):
    safe_write.replace(PLACE, (json.dumps(record) + "\n").encode())


class Alone:
    """Nobody else reads and writes in between."""

    def __enter__(self):
        # A process that can open the lock can hold it, and block every run.
        os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
        os.chmod(DIRECTORY, 0o700)
        self.file = open(DIRECTORY + "/lock", "w", encoding="utf-8")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def sign():
    """A run that waits is not a dead one."""
    with contextlib.suppress(OSError):
        os.utime(PLACE)
