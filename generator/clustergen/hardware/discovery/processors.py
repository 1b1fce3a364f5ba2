"""Readers of `slurmd -C` and lscpu. Each takes any text; ValueError where it is not theirs."""

from __future__ import annotations

import re
from typing import Any

from clustergen.hardware.discovery.facts import Cpus
from clustergen.hardware.discovery.plain import MOST, json_of, number, plain

_FIELD = re.compile(r"(\w+)=(\S+)")
_NUMA_CPUS = re.compile(r"NUMA node\d{1,4} CPU\(s\)")
_ROW = re.compile(r"\s*([^:]{1,60}):(.{0,8000})")
_MOST_DEPTH = 9


def slurmd(text: str) -> tuple[str, Cpus, int]:
    """The NodeName line of `slurmd -C`, its CPUs and RealMemory."""
    line = next((line for line in plain(text).splitlines() if line.startswith("NodeName=")), "")
    values = dict(_FIELD.findall(line))
    try:
        boards = number(values.get("Boards", "1"))
        sockets = number(values.get("SocketsPerBoard") or values["Sockets"]) * boards
        cpus = Cpus(sockets, number(values["CoresPerSocket"]), number(values["ThreadsPerCore"]))
        return line, cpus, number(values["RealMemory"])
    except KeyError as err:
        raise ValueError(f"no {err.args[0]} in a NodeName line") from None


def lscpu(text: str) -> Cpus:
    """`lscpu -J`, whose newer releases nest their fields, or the text of `lscpu`.

    On Arm, a guest has clusters in the place of sockets. NUMA nodes without CPUs are the memory of GPUs.
    """
    fields = _of_json(text) if text.lstrip()[:1] in ("{", "[") else _of_text(text)
    per_socket = fields.get("Core(s) per socket") or fields.get("Core(s) per cluster") or ""
    sockets = fields.get("Socket(s)", "").replace("-", "") or fields.get("Cluster(s)", "")
    threads = fields.get("Thread(s) per core", "")
    if not (sockets.isdecimal() and per_socket.isdecimal() and threads.isdecimal() and sockets.strip("0")):
        raise ValueError("no sockets, cores and threads in English: run LC_ALL=C lscpu -J")
    lists = [cpus for name, cpus in fields.items() if _NUMA_CPUS.fullmatch(name)]
    with_cpus = [cpus for cpus in lists if re.match(r"\d", cpus)]
    listed = fields.get("NUMA node(s)", "")
    numa = len(with_cpus) if lists else number(listed) if listed.isdecimal() else 0
    counts = (number(sockets), number(per_socket), number(threads))
    return Cpus(
        *counts,
        numa // counts[0] if numa and numa % counts[0] == 0 else None,
        fields.get("Model name", ""),
        fields.get("Architecture", ""),
        _numbering(*counts, with_cpus),
    )


def _of_json(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}

    def visit(rows: Any, depth: int = 0) -> None:
        for row in rows if isinstance(rows, list) and depth < _MOST_DEPTH else ():
            if isinstance(row, dict):
                fields.setdefault(str(row.get("field", "")).rstrip(": "), str(row.get("data") or ""))
                visit(row.get("children"), depth + 1)

    document = json_of(text)
    visit(document.get("lscpu") if isinstance(document, dict) else None)
    return fields


def _of_text(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in plain(text).splitlines()[:MOST]:
        if match := _ROW.match(line):
            fields.setdefault(match[1].strip(), match[2].strip())
    return fields


def _numbering(sockets: int, cores: int, threads: int, lists: list[str]) -> str:
    """How Linux numbers CPUs, by the list of the first NUMA node; empty where it does not show, or is none of them."""
    if len(lists) < 2:
        return ""
    first = lists[0]
    width = sockets * cores // len(lists)
    if first == f"0-{width * threads - 1}" and threads > 1:
        return "siblings"
    if re.match(rf"0-{width - 1}\b", first):
        return "sockets"
    return "alternating" if len(lists) == sockets > 1 and first.startswith(f"0,{sockets},") else ""
