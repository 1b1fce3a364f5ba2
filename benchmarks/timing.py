"""Runs commands in turns, and keeps what they cost."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLUSTERGEN = [sys.executable, "-m", "clustergen"]
LIMIT_S = 300


@dataclass(frozen=True)
class Timing:
    """Wall and CPU seconds of one command over several runs, children included, and its largest memory in MB."""

    seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]
    megabytes: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def cpu(self) -> float:
        return statistics.median(self.cpu_seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)


def once(command: list[str], before: Callable[[], None] | None) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and MB of one run. A diff with changes, a lint with warnings, and drift end with 1."""
    if before:
        before()
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    assert process.stderr is not None
    messages = process.stderr.read().decode()
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ((0, 1) if {"diff", "lint", "drift"} & set(command) else (0,)):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {messages[-2000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def in_turns(commands: dict[str, tuple[list[str], Callable[[], None] | None]], runs: int) -> dict[str, Timing]:
    """Each command once to warm up, then all of them in turns."""
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for round_ in range(runs + 1):
        for name, (command, before) in commands.items():
            sample = once(command, before)
            if round_:
                samples[name].append(sample)
    return {
        name: Timing(
            tuple(wall for wall, _, _ in sample), tuple(cpu for _, cpu, _ in sample), max(mb for _, _, mb in sample)
        )
        for name, sample in samples.items()
    }


def row(name: str, timing: Timing, remark: str) -> str:
    return f"| {name} | {timing.median:.2f} | {timing.best:.2f} | {timing.megabytes:.0f} | {remark} |"


def rows_beside(timings: dict[str, Timing], floor: str, what: str) -> list[str]:
    """A row for each, named with `what`; the remark of all but `floor` is the ratio of their CPU times."""
    base = timings[floor].cpu
    return [
        row(f"{name}, {what}", timing, "" if name == floor else f"{timing.cpu / base:.2f} times the CPU of {floor}")
        for name, timing in timings.items()
    ]
