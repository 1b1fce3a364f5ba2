"""The matrix of `nvidia-smi topo -m`: which processors and network ports are close to each GPU."""

from __future__ import annotations

import re

from clustergen.hardware.discovery.facts import GpuFact, PortFact
from clustergen.hardware.discovery.plain import MOST, plain
from clustergen.records import record, replace

_CLOSE = ("PIX", "PXB")
_SAME_NODE = (*_CLOSE, "PHB", "NODE")
_NIC = re.compile(r"NIC\d+|mlx5_\w+|ib\w+|roce\w+|bnxt_\w+")


@record
class Topology:
    """Places of GPUs by their index, and the NUMA nodes of the ports in the matrix; None: it does not show."""

    numa: tuple[int | None, ...] = ()
    close: tuple[tuple[str, ...], ...] = ()
    ports: tuple[tuple[str, int | None], ...] = ()
    links: tuple[tuple[str, ...], ...] = ()

    @property
    def gpus(self) -> tuple[GpuFact, ...]:
        """The GPUs of the matrix, which has no names."""
        return self.placed((GpuFact(""),) * len(self.numa))

    def placed(self, gpus: tuple[GpuFact, ...]) -> tuple[GpuFact, ...]:
        """GPUs of other outputs with their places. GPUs behind one switch have its ports in turn."""
        taken: set[str] = set()
        facts = []
        for gpu, numa, close, links in zip(gpus, self.numa, self.close, self.links, strict=False):
            nearest = next((device for device in close if device not in taken), next(iter(close), ""))
            taken.add(nearest)
            facts.append(replace(gpu, numa=numa, close=close, nearest=nearest, links=links))
        return (*facts, *gpus[len(facts) :])

    def located(self, ports: tuple[PortFact, ...]) -> tuple[PortFact, ...]:
        """Ports of other outputs with their NUMA nodes; those of the matrix where there is no other output."""
        if not ports:
            return tuple(PortFact(device, None, "", numa=numa) for device, numa in self.ports)
        numa = dict(self.ports)
        return tuple(replace(port, numa=numa.get(port.device)) for port in ports)


def topology(text: str) -> Topology:
    """Columns are found by their header. ValueError where it has none."""
    lines = [line for line in plain(text).splitlines() if line.strip()][:MOST]
    header = next((line for line in lines if re.match(r"\s*GPU0\b", line)), "")
    if not header:
        raise ValueError("no header with GPU0")
    devices: dict[str, str] = dict(re.findall(r"(NIC\d+):\s+(\S+)", "\n".join(lines)))
    has_tabs = "\t" in header.strip()  # not in what was copied from a terminal
    columns: list[str] = [cell.strip() for cell in re.split(r"\t" if has_tabs else r"\s{2,}", header.strip())]
    numa: dict[int, int | None] = {}
    close: dict[int, tuple[str, ...]] = {}
    links: dict[int, tuple[str, ...]] = {}
    nodes: dict[str, set[int | None]] = {}
    for line in lines:
        match = re.match(r"GPU(\d{1,3})\s(.*)", line)
        if not match:
            continue
        values = [cell.strip() for cell in match[2].split("\t")] if has_tabs else match[2].split()
        if not has_tabs and len(values) != len(columns):
            raise ValueError("its columns cannot be told apart without tabs: record nvidia-smi topo -m into a file")
        cells = dict(zip(columns, values, strict=False))
        nics = {devices.get(name, name): cell for name, cell in cells.items() if _NIC.fullmatch(name)}
        index, node = int(match[1]), re.match(r"\d{1,4}", cells.get("NUMA Affinity", ""))
        numa[index] = int(node[0]) if node else None  # the first of GB200's list has the CPUs
        links[index] = tuple(cell for name, cell in cells.items() if re.fullmatch(r"GPU\d+", name))
        level = next((level for level in _CLOSE if level in nics.values()), "")
        close[index] = tuple(device for device, cell in nics.items() if level and cell == level)
        for device, cell in nics.items():
            nodes.setdefault(device, set()).update({numa[index]} if cell in _SAME_NODE else ())
    order = range(len(numa)) if set(numa) == set(range(len(numa))) else ()
    return Topology(
        tuple(numa[index] for index in order),
        tuple(close[index] for index in order),
        tuple((device, next(iter(places)) if len(places) == 1 else None) for device, places in nodes.items()),
        tuple(links[index] for index in order),
    )
