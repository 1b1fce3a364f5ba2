"""Reads a directory of outputs: a directory per node, a file per command, any of which may be missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError, quote
from clustergen.hardware.discovery import commands
from clustergen.hardware.discovery.facts import GpuFact, NodeFacts
from clustergen.records import replace

T = TypeVar("T")
MOST_NODES = 65536
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
MOST_BYTES = 4 << 20
FILES = (
    *("slurmd-C", "lscpu.json", "meminfo", "nvidia-smi.csv", "nvidia-smi-topo-m", "ibstat", "dmidecode"),
    *("lsblk.json", "ip.json"),
)


def read(directory: Path) -> Iterator[NodeFacts]:
    """The machines in order of their names. Raises ClustergenError where the directory cannot be read."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as err:
        raise ClustergenError(f"{directory}: {err.strerror}") from None
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    if not folders:
        hint = f"a directory per node, with files called {', '.join(FILES)}"
        raise ClustergenError(f"{directory}: no directory of a node in it", hint, exit_code=2)
    if len(folders) > MOST_NODES:
        raise ClustergenError(f"{directory}: more than {MOST_NODES:,} directories", exit_code=2)
    for entry in folders:
        if not _HOST.fullmatch(entry.name):
            hint = "call each directory as its node: letters, digits and -, at most 63"
            raise ClustergenError(f"{quote(entry.name)} is not the name of a node", hint, exit_code=2)
        yield node(entry.name, Path(entry.path))


def node(name: str, folder: Path) -> NodeFacts:
    """One machine; what cannot be read is in `unread`, and costs nothing else."""
    unread: list[str] = []

    def output(file: str, reader: Callable[[str], T], otherwise: Any = None) -> T | Any:
        try:
            text = regular_file.read(folder / file, MOST_BYTES).decode("utf-8", errors="replace")
        except FileNotFoundError:
            return otherwise
        except OSError as err:
            unread.append(f"{file}: {err.strerror}")
            return otherwise
        try:
            return reader(text)
        except (ValueError, TypeError, AttributeError) as err:
            unread.append(f"{file}: {' '.join(str(err).split())[:120]}")
            return otherwise

    line, cpus, memory = output("slurmd-C", commands.slurmd, ("", None, None))
    seen = output("lscpu.json", commands.lscpu)
    if cpus and seen:
        cpus = replace(cpus, model=seen.model, arch=seen.arch, numa_per_socket=_numa(seen.numa_per_socket, seen, cpus))
    gpus = output("nvidia-smi.csv", commands.gpus, ())
    affinity = output("nvidia-smi-topo-m", commands.topology, {})
    return NodeFacts(
        name=name,
        product=output("dmidecode", commands.product, ""),
        cpus=cpus or seen,
        real_memory_mib=memory or output("meminfo", commands.meminfo_mib),
        gpus=tuple(_placed(gpu, affinity.get(index)) for index, gpu in enumerate(gpus)),
        ports=output("ibstat", lambda text: tuple(commands.ibstat(text)), ()),
        disks=output("lsblk.json", lambda text: tuple(commands.disks(text)), ()),
        addresses=output("ip.json", lambda text: tuple(commands.addresses(text)), ()),
        node_name_line=line,
        unread=tuple(unread),
    )


def _numa(stated: int | None, seen: Any, cpus: Any) -> int | None:
    """NUMA nodes of a socket, where slurmd counts the same sockets."""
    return stated if seen.sockets == cpus.sockets else None


def _placed(gpu: GpuFact, affinity: tuple[int | None, str] | None) -> GpuFact:
    return replace(gpu, numa=affinity[0], nearest=affinity[1]) if affinity else gpu
