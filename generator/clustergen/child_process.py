"""Programs that clustergen does not leave behind: Ctrl-C and SIGTERM reach them, and they end first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it takes milliseconds, and not every verb starts a program
    import subprocess

_PATIENCE_S = 30  # how long an interrupted program may take to end

# Ansible sends its workers SIGTERM twice after an interruption; the second may end one that has not yet passed the
# first on to the programs that it began. Within these tenths of a second a worker ends by itself.
PLAYBOOK = {"ANSIBLE_WORKER_SHUTDOWN_POLL_COUNT": "50"}
"""Environment variables for ansible-playbook."""


class _Programs:
    """Programs that run, each with True if Ctrl-C of the terminal does not reach it."""

    def __init__(self) -> None:
        self.running: dict[subprocess.Popen[Any], bool] = {}
        self.is_starting = False  # the main thread starts one: it is interrupted when that can be ended
        self.pending = 0  # a signal that came meanwhile

    def interrupt(self, number: int, _frame: object) -> None:
        for process in [*self.running]:
            self.pass_on(process, number)
        if not self.is_starting:
            raise KeyboardInterrupt
        self.pending = number

    def pass_on(self, process: subprocess.Popen[Any], number: int) -> None:
        if self.running[process] or number == signal.SIGTERM:
            process.send_signal(signal.SIGINT)


_PROGRAMS = _Programs()


def end_with_us() -> None:
    """From now on, SIGTERM interrupts as Ctrl-C does: a cancelled job leaves nothing behind. For the main thread."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _PROGRAMS.interrupt)
    signal.signal(signal.SIGTERM, _PROGRAMS.interrupt)


@contextmanager
def start(command: Sequence[str], *, is_apart: bool = False, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Starts a program, with the options of Popen; an interruption of the block is raised when it has ended.

    `is_apart`: it has a process group of its own, as `timeout` makes one, which Ctrl-C of a terminal does not reach.
    """
    import subprocess

    is_main = threading.current_thread() is threading.main_thread()
    _PROGRAMS.is_starting = _PROGRAMS.is_starting or is_main
    try:
        process = subprocess.Popen(command, **options)
        _PROGRAMS.running[process] = is_apart
    finally:
        if is_main:
            _PROGRAMS.is_starting = False
    with process:
        try:
            if is_main and (number := _PROGRAMS.pending):
                _PROGRAMS.pending = 0
                _PROGRAMS.pass_on(process, number)
                raise KeyboardInterrupt
            yield process
        except KeyboardInterrupt:
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_PATIENCE_S)
            raise
        finally:
            del _PROGRAMS.running[process]


def limited(command: Sequence[str], seconds: int, *, is_killed: bool = True) -> list[str]:
    """The command for at most these seconds, with what it starts, to be started `is_apart`.

    Five seconds after this time, or an interruption, it is killed, unless `is_killed` is False.
    """
    return ["timeout", *(("-k", "5") if is_killed else ()), str(seconds), *command]


def run_limited(
    command: Sequence[str], seconds: int, *, is_killed: bool = True, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a program that `limited` limits, as subprocess.run would; it reads nothing."""
    import subprocess

    words = limited(command, seconds, is_killed=is_killed)
    with start(words, is_apart=True, stdin=subprocess.DEVNULL, text=True, **options) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def run_playbook(command: Sequence[str], directory: Path, environment: dict[str, str]) -> int:
    """Runs ansible-playbook on this terminal; its exit status. An interruption is left to it to end."""
    is_interrupted = False
    with start(command, cwd=directory, env=environment | PLAYBOOK) as process:
        while True:
            try:
                status: int = process.wait()
                break
            except KeyboardInterrupt:  # the terminal has sent it to the playbook as well, which ends what it began
                is_interrupted = True
    if is_interrupted:
        raise KeyboardInterrupt
    return status
