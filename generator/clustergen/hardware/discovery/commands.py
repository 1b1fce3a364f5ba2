"""Readers of what commands print. Each takes any text and gives what it can; ValueError where it is not theirs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any

from clustergen.hardware.discovery.facts import Cpus, DiskFact, GpuFact, PortFact

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # nvidia-smi underlines its header even into files
_MOST = 4096
"""Rows of any list: a machine has fewer CPUs, disks or ports than that."""
_FIELD = re.compile(r"(\w+)=(\S+)")
_CLOSE = ("PIX", "PXB")


def plain(text: str) -> str:
    return _ESCAPE.sub("", text).replace("\r", "")


def slurmd(text: str) -> tuple[str, Cpus, int]:
    """The NodeName line of `slurmd -C`, its CPUs and RealMemory."""
    line = next((line for line in plain(text).splitlines() if line.startswith("NodeName=")), "")
    values = dict(_FIELD.findall(line))
    try:
        boards = int(values.get("Boards", 1))
        sockets = int(values.get("SocketsPerBoard") or values["Sockets"]) * boards
        cpus = Cpus(sockets, int(values["CoresPerSocket"]), int(values["ThreadsPerCore"]))
        return line, cpus, int(values["RealMemory"])
    except KeyError as err:
        raise ValueError(f"no {err.args[0]} in a NodeName line") from None


def lscpu(text: str) -> Cpus:
    """`lscpu -J`, whose newer releases nest their fields."""
    fields: dict[str, str] = {}

    def visit(rows: Any, depth: int = 0) -> None:
        for row in rows if isinstance(rows, list) and depth < 9 else ():
            if isinstance(row, dict):
                fields.setdefault(str(row.get("field", "")).rstrip(": "), str(row.get("data") or ""))
                visit(row.get("children"), depth + 1)

    document = _json(text)
    visit(document.get("lscpu") if isinstance(document, dict) else None)
    try:
        sockets = int(fields["Socket(s)"])
        numa = int(fields.get("NUMA node(s)") or 0)
        return Cpus(
            sockets,
            int(fields["Core(s) per socket"]),
            int(fields["Thread(s) per core"]),
            numa // sockets if numa and numa % sockets == 0 else None,
            fields.get("Model name", ""),
            fields.get("Architecture", ""),
        )
    except (KeyError, ZeroDivisionError):
        raise ValueError("no sockets, cores and threads") from None


def meminfo_mib(text: str) -> int:
    match = re.search(r"^MemTotal:\s+(\d{1,15}) kB", text, re.MULTILINE)
    if not match:
        raise ValueError("no MemTotal")
    return int(match[1]) // 1024


def gpus(text: str) -> tuple[GpuFact, ...]:
    """`nvidia-smi --query-gpu=… --format=csv`; columns in any order, with units or without."""
    rows = list(csv.reader(plain(text).splitlines(), skipinitialspace=True))
    header = [name.partition(" [")[0] for name in rows[0]] if rows else []
    if "name" not in header:
        raise ValueError("no column called name")
    made = []
    for row in rows[1:_MOST]:
        cells = dict(zip(header, row, strict=False))
        if cells.get("name"):
            made.append(GpuFact(cells["name"], cells.get("pci.bus_id", "").lower(), cells.get("driver_version", "")))
    return tuple(made)


def topology(text: str) -> dict[int, tuple[int | None, str]]:
    """GPU → NUMA node and nearest RDMA device, of `nvidia-smi topo -m`; columns are found by their header."""
    lines = [line for line in plain(text).splitlines() if line.strip()][:_MOST]
    header = next((line for line in lines if re.match(r"\s*GPU0\b", line)), "")
    if not header:
        raise ValueError("no header with GPU0")
    devices = dict(re.findall(r"(NIC\d+):\s+(\S+)", "\n".join(lines)))
    columns = [cell.strip() for cell in header.split("\t")]
    columns = columns[1:] if columns and not columns[0] else columns
    affinity: dict[int, tuple[int | None, str]] = {}
    for line in lines:
        match = re.match(r"GPU(\d+)\t(.*)", line)
        if not match:
            continue
        cells = dict(zip(columns, (cell.strip() for cell in match[2].split("\t")), strict=False))
        nics = {name: cell for name, cell in cells.items() if re.fullmatch(r"NIC\d+|mlx5_\d+|ib\w+", name)}
        closest = next((name for kind in _CLOSE for name, cell in nics.items() if cell == kind), "")
        numa = cells.get("NUMA Affinity", "")
        affinity[int(match[1])] = (int(numa) if numa.isdigit() else None, devices.get(closest, closest))
    return affinity


def ibstat(text: str) -> Iterator[PortFact]:
    device = kind = ""
    rate: int | None = None
    for line in plain(text).splitlines()[: _MOST * 20]:
        if match := re.match(r"CA '([\w.-]{1,63})'", line.strip()):
            device, kind, rate = match[1], "", None
        elif match := re.match(r"CA type: ([\w.-]{1,63})", line.strip()):
            kind = match[1]
        elif match := re.match(r"Rate: (\d{1,5})", line.strip()):
            rate = int(match[1])
        elif device and (match := re.match(r"Link layer: (\w+)", line.strip())):
            yield PortFact(device, rate, match[1].lower(), kind)


def product(text: str) -> str:
    """Manufacturer and product of `dmidecode -t system`."""
    block = plain(text).partition("System Information")[2][:4000]
    parts = [re.search(rf"^\s+{name}:\s*(.+)$", block, re.MULTILINE) for name in ("Manufacturer", "Product Name")]
    words = " ".join(match[1].strip() for match in parts if match)
    if not words:
        raise ValueError("no System Information")
    return words[:200]


def disks(text: str) -> Iterator[DiskFact]:
    """`lsblk -J -b`: disks that are neither removable nor of a network."""
    document = _json(text)
    rows = document.get("blockdevices") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise ValueError("no blockdevices")
    for row in rows[:_MOST]:
        name = str(row.get("name", "")) if isinstance(row, dict) else ""
        if row.get("type") == "disk" and re.fullmatch(r"(nvme\d+n\d+|sd[a-z]+|vd[a-z]+)", name):
            size = row.get("size")
            if str(size).isdigit() and int(size):
                yield DiskFact(name, int(size), '"/' in json.dumps(row))


def addresses(text: str) -> Iterator[tuple[str, str]]:
    """`ip -j addr`: interface and IPv4 address."""
    rows = _json(text)
    for row in rows[:_MOST] if isinstance(rows, list) else ():
        name = str(row.get("ifname", "")) if isinstance(row, dict) else ""
        for entry in row.get("addr_info", ()) if name and name != "lo" else ():
            if isinstance(entry, dict) and entry.get("family") == "inet" and entry.get("scope") == "global":
                yield name, str(entry.get("local", ""))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
