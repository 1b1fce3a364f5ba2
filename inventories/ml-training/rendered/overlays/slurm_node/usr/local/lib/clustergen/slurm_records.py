# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: lib/slurm_records.py
"""Reads what commands of Slurm print, and words amounts, times and limits; programs for users import it."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
from typing import NamedTuple

NONE = ("", "(null)", "N/A", "None", "Unknown", "UNLIMITED", "NONE")
FREE_TEXT = ("JobName", "Command", "WorkDir", "Comment", "AdminComment", "SystemComment")  # up to the end of the line
NAMES = {"cpu": "CPU", "node": "node", "gres/gpu": "GPU", "billing": "billing unit", "energy": "joule"}
UNITS = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}  # of memory, in MiB


class Record(dict[str, str]):
    """Keys and values as scontrol prints them; a key that this release does not print is empty."""

    def __missing__(self, key: str) -> str:
        return ""


class Answer(NamedTuple):
    """Why the job waits, as a clause, and what to do about it."""

    why: str
    remedy: str = ""


def output(*command: str) -> str:
    """Standard output of a command; nothing where it fails, as some sites hide what others have."""
    env = dict(os.environ, LC_ALL="C", SLURM_TIME_FORMAT="standard")
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def fields(text: str) -> Record:
    """`Key=value` of a record of scontrol, one or several in a line."""
    values = Record()
    for line in text.splitlines():
        for match in re.finditer(r"(\S+?)=(\S*)", line):
            key = match[1]
            rest = line[match.start(2) :]
            values.setdefault(key, rest if key in FREE_TEXT else match[2])
            if key in FREE_TEXT:
                break
    return values


def jobs_of(number: str) -> list[Record]:
    """The job, or the parts of a job array that differ."""
    blocks = re.split(r"\n(?=JobId=)", output("scontrol", "show", "job", number).strip())
    jobs = [fields(block) for block in blocks if block.startswith("JobId=")]
    for job in jobs:
        job.setdefault("ReqTRES", job["TRES"])  # before 23.02
    return jobs


def tres(text: str) -> dict[str, float]:
    """`cpu=4,mem=1.5G,gres/gpu=2` as numbers, memory in MiB."""
    counts = {}
    for item in text.split(","):
        name, _, value = item.rpartition("=")
        match = re.fullmatch(r"([0-9.]+)([KMGTP]?)", value)
        if match:
            counts[name] = float(match[1]) * (UNITS[match[2]] if name == "mem" else 1)
    return counts


def minutes(text: str) -> float | None:
    """Of `2-03:04:05`, `03:04:05`, `04:05` (minutes and seconds); None for no limit."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    if not match:
        return None
    days, hours, mins, seconds = (int(part or 0) for part in match.groups())
    return days * 1440 + hours * 60 + mins + seconds / 60


def duration(count: float) -> str:
    """Minutes in the form of --time: `1-02:00:00`."""
    days, rest = divmod(int(count), 1440)
    return (f"{days}-" if days else "") + f"{rest // 60:02}:{rest % 60:02}:00"


def moment(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def node_count(job: Record) -> int:
    """The least number: NumNodes is 2-4 where the job takes more if it can."""
    return int(job["NumNodes"].partition("-")[0] or 1)


def clock(when: datetime.datetime) -> str:
    today = datetime.datetime.now().date()
    return when.strftime("%H:%M" if when.date() == today else "%Y-%m-%d %H:%M")


def amount(name: str, count: float) -> str:
    """`2 GPUs`, `1.5 GiB of memory`."""
    if name == "mem":
        return f"{count / 1024:.4g} GiB of memory" if count >= 1024 else f"{count:.4g} MiB of memory"
    base, _, kind = name.partition(":")
    what = NAMES.get(base) or (f"{base.partition('/')[2] or base}" if "/" in base else base)
    plural = "" if count == 1 or base not in NAMES else "s"
    return f"{count:.15g} {kind + ' ' if kind else ''}{what}{plural}"


def counted(count: float, noun: str) -> str:
    return f"{count:.15g} {noun}{'' if count == 1 else 's'}"


def update(job: Record, setting: str) -> str:
    return f"`scontrol update jobid={job['JobId']} {setting}`"


def joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
