"""Readings of a gate from what its program printed on the nodes.

srun --label puts the number of the task before each line, so a node cannot speak for another. A line that begins with
`@` is the program's own: `@host NAME`, `@reading METRIC VALUE`, `@why TEXT`, `@missing PROGRAM`, and `@output TOOL`
before what a tool prints. All else is read by the parser of the tool. Whatever a node prints ends in readings or in a
problem, never in an exception.
"""

import errno
import json
import math
import os
import re

LIMIT = 8_000_000  # characters; fio, dcgmi and nccl-tests print some thousands
_LABEL = re.compile(r" *(\d{1,6}): ?(.*)")
_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,40}")
_MOST_TEXT = 200


class BrokenError(Exception):
    """An output that its parser cannot read; the text is for people."""


class Answer:
    """The output of one job: `readings` by metric; `hosts` by task; `problems` fail the gate, `missing` leave it out."""

    def __init__(self):
        self.readings = {}
        self.hosts = {}
        self.problems = []
        self.missing = set()
        self.reports = {}  # metric → values of several tasks


def printable(text):
    """One line without control characters and braces, which ReFrame would take for a format; at most 200 characters."""
    plain = "".join(sign if sign.isprintable() else " " for sign in str(text)[:4000])
    plain = plain.replace("{", "(").replace("}", ")")
    return " ".join(plain.split())[:_MOST_TEXT]


def number(text):
    """A finite number; BrokenError for all else."""
    try:
        value = float(text)
    except ValueError:
        raise BrokenError("'%s' is not a number" % printable(text)) from None
    if not math.isfinite(value):
        raise BrokenError("'%s' is not finite" % printable(text))
    return value


def lines_by_task(text):
    """Task → lines; lines without a label are srun's own and go to -1."""
    tasks = {}
    for line in text.split("\n"):
        match = _LABEL.fullmatch(line.rstrip("\r"))
        tasks.setdefault(int(match[1]) if match else -1, []).append(match[2] if match else line)
    return tasks


def text_of(path):
    """The output of a program, as far as it is read; bytes that are no text are replaced."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(LIMIT + 1)


def read(text):
    """The Answer of one job."""
    answer = Answer()
    if len(text) > LIMIT:
        answer.problems.append("the output has %d characters" % len(text))
        return answer
    for task, lines in sorted(lines_by_task(text).items()):
        if task >= 0:
            _task(answer, task, lines)
    for metric, values in answer.reports.items():
        answer.readings[metric] = _joined(metric, values)
    return answer


def _joined(metric, values):
    """Several tasks of one job: bandwidths add up, of all else the worst counts."""
    if metric in ("write", "read", "create", "stat", "unlink"):
        return sum(values)
    return (
        max(values)
        if metric in ("failed", "errors", "wrong", "latency", "loss", "throttled", "row_pending")
        else min(values)
    )


def _task(answer, task, lines):
    tool, block = "", []
    for line in [*lines, "@output end"]:
        word, _, rest = line.partition(" ")
        if word == "@output":
            _tool(answer, tool, block)
            tool, block = rest.strip(), []
        elif word in ("@host", "@reading", "@why", "@missing"):
            _marked(answer, task, word, rest)
        elif tool:
            block.append(line)


def _marked(answer, task, word, rest):
    if word == "@host":
        answer.hosts[task] = printable(rest)
    elif word == "@why":
        answer.problems.append(printable(rest))
    elif word == "@missing":
        answer.missing.add(printable(rest))
    else:
        metric, _, value = rest.partition(" ")
        if not _METRIC.fullmatch(metric):
            answer.problems.append("'%s' is not a metric" % printable(metric))
            return
        try:
            reading = number(value)
            answer.reports.setdefault(metric, []).append(reading)
        except BrokenError as err:
            answer.problems.append("%s: %s" % (metric, err))


def _tool(answer, tool, block):
    reader = TOOLS.get(tool)
    if reader is None:
        return
    try:
        for metric, value in reader("\n".join(block)):
            answer.reports.setdefault(metric, []).append(value)
    except BrokenError as err:
        if (text := "%s: %s" % (tool, err)) not in answer.problems:
            answer.problems.append(text)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as err:
        answer.problems.append("%s printed what cannot be read: %s" % (tool, printable(err)))


def _json(text):
    """The JSON object in a text; tools print warnings before and after it."""
    begin = text.find("{")
    if begin < 0:
        raise BrokenError(printable(text) or "no output")
    document, _ = json.JSONDecoder().raw_decode(text[begin:])
    return document


def _fio(text):
    """Bandwidth in GB/s of the direction that moved bytes."""
    document = _json(text)
    jobs = document["jobs"]
    if not jobs:
        raise BrokenError("no jobs")
    for job in jobs:
        if code := job.get("error"):
            raise BrokenError(os.strerror(code) if code in errno.errorcode else "error %s" % printable(code))
    for direction in ("write", "read"):
        rate = sum(number(job[direction]["bw_bytes"]) for job in jobs)
        if rate > 0:
            yield direction, rate / 1e9


def _stress_ng(text):
    """Failures, and operations per second of real time."""
    yield "errors", sum(1 for line in text.split("\n") if re.search(r"stress-ng: (fail|error):", line))
    match = re.search(r"stress-ng: \w+: +\[\d+\] +cpu +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)", text)
    if not match:
        raise BrokenError("no metrics of cpu")
    yield "operations", number(match[2])


def _nvbandwidth(text):
    """The least entry of each matrix in GB/s; N/A stands where a GPU would copy to itself."""
    names = {
        "host_to_device": "host_to_device",
        "device_to_host": "device_to_host",
        "device_to_device": "device_to_device",
    }
    metric, values = None, {}
    for line in text.split("\n"):
        if match := re.match(r"Running (\w+?)_memcpy", line):
            metric = names.get(match[1])
        elif line.startswith("SUM"):
            metric = None
        elif metric and (match := re.fullmatch(r" *\d+((?: +(?:N/A|[\d.]+))+) *", line)) and "." in line:
            values.setdefault(metric, []).extend(number(word) for word in match[1].split() if word != "N/A")
    if not any(values.values()):
        raise BrokenError(printable(next((line for line in text.split("\n") if "rror" in line), "no matrix")))
    for metric, entries in values.items():
        if entries:
            yield metric, min(entries)


def _dcgmi(text):
    """Tests that failed; the names of DCGM 3 and 4 are the same."""
    document = _json(text)
    report = document.get("DCGM Diagnostic") or document.get("DCGM GPU Diagnostic") or {}
    failed, count = [], 0
    for category in report.get("test_categories", ()):
        for test in category["tests"]:
            for result in test["results"]:
                count += 1
                if str(result["status"]).lower() in ("fail", "failed"):
                    failed.append("%s (GPU %s)" % (test["name"], result.get("entity_id", result.get("gpu_id", "?"))))
    if not count:
        raise BrokenError(printable(report.get("runtime_error") or "no results"))
    yield "failed", len(failed)
    yield "results", count


def _nccl(text):
    """Bus bandwidth in GB/s of the largest message in place, wrong values, ranks and their hosts."""
    rows = []
    ranks, hosts = set(), set()
    for line in text.split("\n"):
        if match := re.match(r"#\s+Rank\s+(\d+)\s.*\bon\s+(\S+)\s+device\b", line):
            ranks.add(int(match[1]))
            hosts.add(match[2])
        elif match := re.fullmatch(r"\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+((?:\s+[\d.]+){3}\s+\S+){2}\s*", line):
            words = line.split()
            rows.append((int(words[0]), number(words[-2]), words[-5], words[-1]))
    if not rows:
        reason = next(
            (line for line in text.split("\n") if "failure" in line.lower() or "error" in line.lower()), "no results"
        )
        raise BrokenError(printable(reason))
    yield "busbw", max(rows)[1]
    yield "wrong", sum(number(word) for row in rows for word in row[2:] if word != "N/A")
    yield "ranks", len(ranks)
    yield "hosts", len(hosts)


def _ib_write_bw(text):
    """The average of the row in Gb/s; peak, average and message rate are its last columns."""
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 5 and words[0].isdigit() and words[1].isdigit():
            yield "bandwidth", number(words[3])
            return
    raise BrokenError(printable(" ".join(text.split("\n")[-3:])) or "no output")


def _gpus(text):
    """Of all GPUs the least: power limit in W, highest clock in MHz, PCIe generation and width."""
    rows = [[word.strip() for word in line.split(",")] for line in text.split("\n") if line.strip()]
    columns = ("power_limit", "clock", "pcie_gen", "pcie_width")
    if any(len(row) != len(columns) + 2 for row in rows) or not rows:
        raise BrokenError(printable(text) or "no GPUs")
    yield "gpus", len({number(row[0]) for row in rows})
    for place, metric in enumerate(columns, 2):
        values = [number(row[place]) for row in rows if row[place] not in ("[N/A]", "N/A", "[Not Supported]")]
        if values:
            yield metric, min(values)


_SLOWED = 0x08 | 0x20 | 0x40 | 0x80  # hardware slowdown, heat by software and hardware, power brake


def _reasons(text):
    rows = [line.split(",") for line in text.split("\n") if line.strip()]
    if not rows or any(len(row) != 2 for row in rows):
        raise BrokenError(printable(text) or "no GPUs")
    yield "throttled", sum(1 for row in rows if int(row[1].strip(), 16) & _SLOWED)


def _rows(text):
    """GPUs with a pending row; those without row remapping report N/A."""
    states = [line.rpartition(",")[2].strip() for line in text.split("\n") if line.strip()]
    for state in states:
        if not re.fullmatch(r"\d{1,9}|Yes|No|\[?N/A\]?|\[Not Supported\]", state):
            raise BrokenError(printable(text))
    yield "row_pending", sum(1 for state in states if re.fullmatch(r"0*[1-9]\d*|Yes", state))


def _links(text):
    """The least number of links with a rate over all GPUs."""
    links = {}
    gpu = None
    for line in text.split("\n"):
        if match := re.match(r"GPU (\d+):", line):
            gpu = int(match[1])
            links[gpu] = 0
        elif gpu is not None and re.match(r"\s*Link \d+: [\d.]+ GB/s", line):
            links[gpu] += 1
    if not links:
        raise BrokenError(printable(text) or "no GPUs")
    yield "links", min(links.values())


TOOLS = {
    "fio": _fio,
    "stress-ng": _stress_ng,
    "nvbandwidth": _nvbandwidth,
    "dcgmi": _dcgmi,
    "nccl-tests": _nccl,
    "ib_write_bw": _ib_write_bw,
    "gpus": _gpus,
    "reasons": _reasons,
    "rows": _rows,
    "links": _links,
}
