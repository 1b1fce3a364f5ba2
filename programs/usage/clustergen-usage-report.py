#!/usr/bin/python3
"""Reports the use of the cluster in the last complete period, or in the one that the arguments name.

    clustergen-usage-report [--from YYYY-MM-DD --to YYYY-MM-DD] [--directory DIRECTORY]

Writes a Markdown and a CSV file, and metrics for node_exporter. Times are those of this host; a job counts with the
part of its run time that is within the period.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

VALUES = json.loads(Path("/etc/clustergen/usage-report.json").read_text(encoding="utf-8"))
PERIOD: str = VALUES["period"]
CLUSTER: str = VALUES["cluster"]
METRICS: str = VALUES["metrics_file"]
CURRENCY: str = VALUES["currency"]  # empty: no prices
GPU_HOUR: float = VALUES["gpu_hour"]
SEPARATOR = "\x1f"  # no name of Slurm contains it
FIELDS = ("JobIDRaw", "Account", "User", "State", "Start", "End", "ElapsedRaw", "TimelimitRaw", "AllocTRES", "TotalCPU")
BAD = ("FAILED", "NODE_FAIL", "TIMEOUT", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE")
SERIES = 200  # pairs of account and user with metrics of their own
HEADINGS = (
    "account", "user", "jobs", "GPU hours", "CPU hours", "GPU hours of failed jobs", "CPU time used", "time limit used",
)  # fmt: skip
Hours = dict[str, dict[str, float]]  # TRES → state → hours


class Row(NamedTuple):
    """The jobs of a user in an account. The two before `price` are shares from 0 to 1, None where nothing is known."""

    account: str
    user: str
    jobs: int
    gpu_hours: float
    cpu_hours: float
    failed_gpu_hours: float
    cpu_efficiency: float | None
    time_limit_used: float | None
    price: float


def last_period(today: datetime.date) -> tuple[datetime.date, datetime.date]:
    """First day of the last complete period, and the day after it."""
    if PERIOD == "day":
        return today - datetime.timedelta(days=1), today
    if PERIOD == "week":
        monday = today - datetime.timedelta(days=today.weekday())
        return monday - datetime.timedelta(days=7), monday
    first = today.replace(day=1)
    return (first - datetime.timedelta(days=1)).replace(day=1), first


def output(*command: str) -> str:
    env = dict(os.environ, SLURM_TIME_FORMAT="%s", LC_ALL="C")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env, timeout=3600, check=True)
    return done.stdout.decode("utf-8", "replace")


def tres(text: str, name: str) -> int:
    """The count of `gres/gpu` in `billing=8,gres/gpu=8,gres/gpu:h100=8`."""
    for item in text.split(","):
        key, _, value = item.partition("=")
        if key == name and value.isdigit():
            return int(value)
    return 0


def seconds(text: str) -> float:
    """Of `1-02:03:04`, `03:04.567`."""
    days, _, clock = text.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part or 0)
    return total + 86400 * int(days or 0)


class Usage:
    """Sums of the jobs of a user in an account."""

    def __init__(self) -> None:
        self.jobs = 0
        self.gpu = self.failed_gpu = self.cpu = self.cpu_used = self.limit = self.elapsed = 0.0

    def add(self, job: dict[str, str], begin: int, end: int) -> None:
        start = max(int(job["Start"]), begin)
        stop = min(int(job["End"]) if job["End"].isdigit() else end, end)
        within = max(stop - start, 0)
        elapsed = int(job["ElapsedRaw"] or 0)
        cpu_used = seconds(job["TotalCPU"]) * min(within / elapsed, 1) if elapsed else 0
        limit = int(job["TimelimitRaw"]) * 60 if job["TimelimitRaw"].isdigit() and job["End"].isdigit() else 0
        gpu = tres(job["AllocTRES"], "gres/gpu") * within
        # All that can fail is above: a record counts as a whole or not at all.
        self.jobs += 1
        self.gpu += gpu
        self.cpu += tres(job["AllocTRES"], "cpu") * within
        if job["State"].split(" ")[0] in BAD:
            self.failed_gpu += gpu
        self.cpu_used += cpu_used
        if limit:
            self.limit += limit
            self.elapsed += elapsed

    def row(self, account: str, user: str) -> Row:
        return Row(
            account=account,
            user=user,
            jobs=self.jobs,
            gpu_hours=round(self.gpu / 3600, 2),
            cpu_hours=round(self.cpu / 3600, 2),
            failed_gpu_hours=round(self.failed_gpu / 3600, 2),
            cpu_efficiency=round(self.cpu_used / self.cpu, 4) if self.cpu else None,
            time_limit_used=round(self.elapsed / self.limit, 4) if self.limit else None,
            price=round(self.gpu / 3600 * GPU_HOUR, 2),
        )


def usage(text: str, begin: int, end: int) -> tuple[list[Row], int]:
    """Rows by GPU hours, and the number of records that could not be read."""
    sums: dict[tuple[str, str], Usage] = {}
    unreadable = 0
    for line in text.split("\n"):
        if not line:
            continue
        parts = line.split(SEPARATOR)
        job = dict(zip(FIELDS, parts))
        try:
            if len(parts) != len(FIELDS):
                raise ValueError(line)
            if not job["Start"].isdigit():
                continue  # it never ran
            sums.setdefault((job["Account"], job["User"]), Usage()).add(job, begin, end)
        except ValueError:
            unreadable += 1
    rows = [one.row(*names) for names, one in sums.items() if one.jobs]
    return sorted(rows, key=lambda row: (-row.gpu_hours, -row.cpu_hours, row.account, row.user)), unreadable


def utilization(text: str) -> Hours:
    """TRES → state → hours, of what sreport prints."""
    header: list[str] = []
    states: Hours = {}
    for line in text.splitlines():
        words = line.split("|")
        if words[0] == "Cluster":
            header = words
        elif header and len(words) == len(header):
            row = dict(zip(header, words))
            hours = {name: float(value) / 3600 for name, value in row.items() if re.match(r"[0-9]+(\.[0-9]+)?$", value)}
            states[row["TRES Name"]] = hours
    return states


def one_line(text: object) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in str(text))


def markdown(text: object) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#+|!~&-])", r"\\\1", one_line(text))


def cell(value: str | float | None) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = "" if value is None else one_line(value)
    return "'" + text if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "'") else text


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def write_markdown(path: str, title: str, rows: list[Row], states: Hours, unreadable: int) -> None:
    lines = [f"# {title}", ""]
    if states:
        lines += ["| resource | allocated | idle | down | utilization |", "|---|---|---|---|---|"]
        for name, hours in sorted(states.items()):
            down = hours.get("Down", 0) + hours.get("PLND Down", 0)
            up = hours.get("Reported", 0) - down
            share = percent(hours.get("Allocated", 0) / up if up > 0 else None)
            allocated, idle = hours.get("Allocated", 0), hours.get("Idle", 0)
            lines.append(f"| {markdown(name)} | {allocated:.1f} h | {idle:.1f} h | {down:.1f} h | {share} |")
        lines.append("")
    priced = [f"price ({CURRENCY})"] if CURRENCY else []
    lines.append(f"| {' | '.join([*HEADINGS, *priced])} |")
    lines.append(f"|---|---|{'---:|' * (6 + len(priced))}")
    for row in rows:
        hours_of = [f"{hours:.1f}" for hours in (row.gpu_hours, row.cpu_hours, row.failed_gpu_hours)]
        cells = [markdown(row.account), markdown(row.user), str(row.jobs), *hours_of]
        cells += [percent(row.cpu_efficiency), percent(row.time_limit_used), *(f"{row.price:.2f}" for _ in priced)]
        lines.append(f"| {' | '.join(cells)} |")
    if priced:
        total = sum(row.price for row in rows)
        lines += ["", f"Sum: {total:.2f} {CURRENCY}, at {GPU_HOUR:g} {CURRENCY} for one GPU and hour."]
    if unreadable:
        lines += ["", f"{unreadable} records of sacct could not be read and are not counted."]
    replace(path, "\n".join(lines) + "\n")


def write_csv(path: str, rows: list[Row]) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    shown = len(Row._fields) if CURRENCY else -1
    writer.writerow(Row._fields[:shown])
    writer.writerows([cell(value) for value in row[:shown]] for row in rows)
    replace(path, text.getvalue())


def replace(path: str, text: str) -> None:
    """Writes a file in one step; no link is followed that another user could have placed."""
    command = ["/usr/local/sbin/clustergen-write", str(Path(path).absolute())]
    subprocess.run(command, input=text.encode(), timeout=60, check=True)


def label(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')


def metrics(rows: list[Row], states: Hours, begin: int, end: int) -> str:
    names = ("jobs", "gpu_hours", "cpu_hours", "failed_gpu_hours")
    series = [(row.account, row.user, [getattr(row, name) for name in names]) for row in rows[:SERIES]]
    if rows[SERIES:]:
        series.append(("", "", [sum(getattr(row, name) for row in rows[SERIES:]) for name in names]))
    lines = []
    for index, name in enumerate(names):
        lines.append(f"# TYPE clustergen_usage_{name} gauge")
        for account, user, values in series:
            labels = f'account="{label(account)}",user="{label(user)}",period="{PERIOD}"'
            lines.append(f"clustergen_usage_{name}{{{labels}}} {values[index]}")
    if states:
        lines.append("# TYPE clustergen_usage_state_hours gauge")
    for resource, hours in sorted(states.items()):
        for state, value in sorted(hours.items()):
            labels = f'resource="{label(resource)}",state="{label(state.lower())}",period="{PERIOD}"'
            lines.append(f"clustergen_usage_state_hours{{{labels}}} {value:.3f}")
    for name, value in (("begin", begin), ("end", end)):
        lines.append(f"# TYPE clustergen_usage_{name}_timestamp_seconds gauge")
        lines.append(f"clustergen_usage_{name}_timestamp_seconds {value}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    day = datetime.date.fromisoformat
    parser.add_argument("--from", dest="first", type=day, metavar="YYYY-MM-DD", help="first day")
    parser.add_argument("--to", dest="last", type=day, metavar="YYYY-MM-DD", help="last day")
    parser.add_argument("--directory", type=Path, default="/var/lib/clustergen-reports", help="where the files go")
    options = parser.parse_args()
    first, end_day = last_period(datetime.date.today())
    if (options.first is None) != (options.last is None):
        parser.error("--from and --to belong together")
    try:
        if options.first:
            first, end_day = options.first, options.last + datetime.timedelta(days=1)
            if end_day <= first:
                parser.error("--to is before --from")
        begin, end = (int(datetime.datetime.combine(one, datetime.time()).timestamp()) for one in (first, end_day))
    except (OverflowError, ValueError):
        parser.error("--from and --to have to be within the years 2 to 9998")
    until = min(end, int(datetime.datetime.now().timestamp()))
    span = [f"{one.isoformat()}T00:00:00" for one in (first, end_day)]
    jobs = output(
        "sacct", "--allusers", "--allocations", "--noheader", "--parsable2", "--delimiter=" + SEPARATOR, "--duplicates",
        "--starttime=" + span[0], "--endtime=" + span[1], "--format=" + ",".join(FIELDS),
    )  # fmt: skip
    rows, unreadable = usage(jobs, begin, until)
    report = output(
        "sreport", "--parsable2", "-t", "seconds", "--tres=cpu,gres/gpu", "cluster", "Utilization",
        "start=" + span[0], "end=" + span[1],
    )  # fmt: skip
    states = utilization(report)
    options.directory.mkdir(parents=True, exist_ok=True)
    last = end_day - datetime.timedelta(days=1)
    place = str(options.directory / f"{first}_{last}")
    write_csv(place + ".csv", rows)
    write_markdown(place + ".md", f"Use of {markdown(CLUSTER)} from {first} to {last}", rows, states, unreadable)
    if METRICS and not options.first:
        replace(METRICS, metrics(rows, states, begin, end))
    print(place + ".md")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as problem:
        sys.exit(f"failed: {problem.cmd[0]} ended with exit status {problem.returncode}")
    except (OSError, subprocess.TimeoutExpired) as problem:
        sys.exit(f"failed: {problem}")
