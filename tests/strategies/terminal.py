"""Runs a command on a terminal that the kernel makes."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from pathlib import Path


def on_a_terminal(words: list[str | Path], columns: int) -> tuple[int, str]:
    """The exit code and what a terminal of so many columns shows."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(["timeout", "-s", "KILL", "60", *words], stdout=theirs, env=environment) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 4096):
                parts.append(part)
        except OSError:  # nobody has the terminal any more
            pass
        finally:
            os.close(ours)
    return process.returncode, b"".join(parts).decode().replace("\r\n", "\n")
