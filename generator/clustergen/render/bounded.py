"""Runs tasks in a confined child process with limits of time, memory and output: a site's template is a program."""

from __future__ import annotations

import math
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Never

from clustergen import log
from clustergen.diagnostics import printable
from clustergen.render.confinement import confine

SECONDS = 10
"""Of CPU, for each task."""
MEMORY = 256 << 20
"""Bytes beyond what the process has."""
LARGEST = 16 << 20
"""Bytes of an answer."""
SECONDS_OF_ALL = 120
"""Of CPU, for all tasks together."""
LARGEST_OF_ALL = 64 << 20
"""Bytes of all answers together."""
_PATIENCE = 20  # a loaded machine needs so many times the CPU time
_SIZE = 8  # bytes of the number before an answer
_TOO_LARGE = -1


class LimitError(Exception):
    """A task took more time or memory than it may, or its answer is too large."""


class TimeLimitError(BaseException):
    """Is raised within a task that took too much time; no task catches it by accident."""


def bounded(task: Callable[[int], bytes], count: int) -> list[bytes | LimitError]:
    """The answers of task(0), task(1) …, computed in one child process.

    A task that ends the process gets a LimitError, and another child computes the answers that remain. Those that
    remain when all together have reached a limit get a LimitError as well.
    """
    run = _Run(task, count)
    while len(run.answers) < count:
        if run.excess:
            run.answers.append(run.excess)
        else:
            run.continue_in_child()
    return run.answers


class _Run:
    """The answers so far, and what they have used of the limits of all together."""

    def __init__(self, task: Callable[[int], bytes], count: int) -> None:
        self.task = task
        self.count = count
        self.answers: list[bytes | LimitError] = []
        self.seconds = 0.0
        self.size = 0
        self.excess: LimitError | None = None

    def continue_in_child(self) -> None:
        """Adds one answer or more."""
        remaining = range(len(self.answers), self.count)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _run(self.task, remaining, writing, math.ceil(SECONDS_OF_ALL - self.seconds))
        os.close(writing)
        end: LimitError | None = None
        try:
            answer = _next(reading)
            if isinstance(answer, bytes) and (refusal := printable(answer.decode(errors="replace"))):
                log.info(__name__, "templates run without a filter of system calls: %s", refusal)
            while answer is not None and len(self.answers) < self.count and self.excess is None:
                if (answer := _next(reading)) is not None:
                    self._add(answer)
        except LimitError as err:
            end = err
        finally:
            os.close(reading)
            with suppress(ProcessLookupError):  # a child that has ended keeps its status
                os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
        self.seconds += usage.ru_utime + usage.ru_stime
        if self.seconds >= SECONDS_OF_ALL:
            self.excess = LimitError(f"all templates together require more than {SECONDS_OF_ALL} s of CPU time")
        elif self.excess is None and len(self.answers) < self.count:
            self.answers.append(end or _reason(status))

    def _add(self, answer: bytes | LimitError) -> None:
        self.size += len(answer) if isinstance(answer, bytes) else 0
        if self.size > LARGEST_OF_ALL:
            self.excess = LimitError(f"all templates together print more than {LARGEST_OF_ALL >> 20} MiB")
        else:
            self.answers.append(answer)


def _next(reading: int) -> bytes | LimitError | None:
    """The next answer of a child, which is not trusted; None where it has ended or sends what is no answer."""
    deadline = time.monotonic() + SECONDS * _PATIENCE
    header = _read(reading, _SIZE, deadline)
    size = int.from_bytes(header, "big", signed=True)
    if len(header) < _SIZE or size > LARGEST:
        return None
    if size < 0:
        return size_limit()
    answer = _read(reading, size, deadline)
    return answer if len(answer) == size else None


def _read(reading: int, size: int, deadline: float) -> bytes:
    """Read so many bytes, fewer at the end. LimitError where they take too long."""
    content = bytearray()
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    while len(content) < size:
        if not poll.poll(max(0, deadline - time.monotonic()) * 1000):
            raise LimitError(f"it has no result after {SECONDS * _PATIENCE} s")
        chunk = os.read(reading, min(1 << 20, size - len(content)))
        if not chunk:
            break
        content += chunk
    return bytes(content)


def _reason(status: int) -> LimitError:
    """Why a child ended before its answer."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGPROF, signal.SIGVTALRM, signal.SIGXCPU):
        return time_limit()
    if number == signal.SIGSEGV:  # the stack cannot grow
        return LimitError("its process was ended by SIGSEGV: its recursion is too deep")
    if number:
        return LimitError(f"its process was ended by {signal.Signals(number).name}")
    return memory_limit()


def time_limit() -> LimitError:
    return LimitError(f"it requires more than {SECONDS} s of CPU time")


def memory_limit() -> LimitError:
    return LimitError(f"it requires more than {MEMORY >> 20} MiB of memory")


def size_limit() -> LimitError:
    return LimitError(f"it prints more than {LARGEST >> 20} MiB")


def _run(task: Callable[[int], bytes], numbers: range, writing: int, seconds: int) -> Never:
    """The child."""
    try:
        signal.signal(signal.SIGPROF, _stop)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        _send(writing, confine(writing, MEMORY, min((SECONDS + 3) * len(numbers), seconds)).encode())
        for number in numbers:
            # The first signal interrupts Python between two of its steps; the second ends a step that takes too long.
            signal.setitimer(signal.ITIMER_PROF, SECONDS, 1)
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS * 1.2)
            answer = task(number)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _send(writing, answer)
    finally:
        os._exit(0)


def _stop(_signal: int, _frame: FrameType | None) -> Never:
    raise TimeLimitError


def _send(writing: int, answer: bytes) -> None:
    is_large = len(answer) > LARGEST
    os.write(writing, (_TOO_LARGE if is_large else len(answer)).to_bytes(_SIZE, "big", signed=True))
    rest = memoryview(b"" if is_large else answer)
    while rest:
        rest = rest[os.write(writing, rest) :]
