"""Runs a function in a child process with limits of time and memory: a site's template is somebody's program."""

from __future__ import annotations

import os
import pickle
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SECONDS = 10
"""Of CPU."""
MEMORY = 256 << 20
"""Bytes beyond what the process has."""
_LARGEST = 64 << 20


class LimitError(Exception):
    """The function took more time or memory than it may."""


def bounded(function: Callable[[], str]) -> str:
    """What the function returns. Raises what it raises, and LimitError."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run(function, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as source:
            answer = source.read(_LARGEST)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        raise LimitError(f"it requires more than {SECONDS} s of CPU time")
    if not answer:
        raise LimitError(f"it requires more than {MEMORY >> 20} MiB of memory")
    result = pickle.loads(answer)
    if isinstance(result, Exception):
        raise result
    assert isinstance(result, str)
    return result


def _run(function: Callable[[], str], writing: int) -> None:
    """The child: never returns."""
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))  # the soft limit has a signal of its own
        try:
            answer = pickle.dumps(function())
        except Exception as err:  # noqa: BLE001 - the parent raises it again
            answer = pickle.dumps(err)
        with os.fdopen(writing, "wb") as out:
            out.write(answer)
    finally:
        os._exit(0)
