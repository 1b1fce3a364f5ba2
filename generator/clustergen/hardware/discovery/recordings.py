"""Facts of machines from recorded outputs: a directory for each, with files that are called after their commands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError, quote
from clustergen.hardware.discovery import commands, devices, nvidia, processors
from clustergen.hardware.discovery.facts import NodeFacts
from clustergen.hardware.discovery.script import COMMANDS
from clustergen.hardware.discovery.topology import Topology, topology
from clustergen.records import replace
from clustergen.regular_file import reason_of
from clustergen.render.tree import LOCK

T = TypeVar("T")
MOST_NODES = 65536
MOST_BYTES = 4 << 20
TREE, UNREACHABLE, FAILURES = "tree.json", "unreachable", "failures.json"
"""Files that the playbook adds to the outputs of commands."""
SLURM, PARTITIONS = "scontrol-nodes", "scontrol-partitions"
"""Files that it adds on controllers."""
BIOS = "redfish-bios.json"
"""A BMC's answer for the resource Bios."""
BMC = "bmc.json"
"""Answers of the BMC: `power` and `health`, or `failure`."""
BY_HAND = ("lscpu", "nvidia-smi-L", "nvidia-smi")
"""Outputs that people have at hand, read where the script's are missing."""
_FILES = frozenset((*COMMANDS, *BY_HAND, TREE, UNREACHABLE, FAILURES, SLURM, PARTITIONS, BIOS, BMC))
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_ALIKE_BYTES, _MOST_ALIKE, _MOST_OTHERS = 32 << 10, 2048, 20


def names(directory: Path, playbook: str = "discover") -> list[str]:
    """Directories in it, which `playbook` records. Raises ClustergenError where it cannot be read or has too many."""
    try:
        with os.scandir(directory) as entries:
            directories = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError as err:
        raise ClustergenError(f"{directory}: {reason_of(err)}", _record(directory, playbook)) from None
    if (directory / LOCK).exists():
        raise ClustergenError(
            f"{directory} is a rendered tree, not recorded facts", _record(Path("facts"), playbook), 2
        )
    if not any(_has_facts(directory / name) for name in directories):
        raise ClustergenError(
            f"{directory}: no facts of any node in this directory", _record(directory, playbook), exit_code=2
        )
    if len(directories) > MOST_NODES:
        raise ClustergenError(f"{directory}: more than {MOST_NODES:,} directories", exit_code=2)
    return directories


def _has_facts(directory: Path) -> bool:
    """True if a directory has a file of facts, or cannot be read: that is reported for its node."""
    try:
        with os.scandir(directory) as entries:
            return any(_file(entry.name) in _FILES for entry in entries)
    except OSError:
        return True


def _file(name: str) -> str:
    return name.removesuffix(".txt")


def _record(directory: Path, playbook: str) -> str:
    recorded = f"record them with ansible-playbook clustergen.cluster.{playbook} -e facts={directory}"
    if playbook == "drift":
        return f"{recorded} in the rendered tree: a directory per node, a file per command"
    return f"{recorded}, or with the script that clustergen discover --script prints: a directory per node"


def is_host(name: str) -> bool:
    return _HOST.fullmatch(name) is not None


def read(directory: Path) -> Iterator[NodeFacts]:
    """The machines in order of their names. Raises ClustergenError where the directory cannot be read."""
    directories = names(directory)
    for name in directories:
        if not is_host(name):
            hint = "call each directory as its node: letters, digits and -, at most 63"
            raise ClustergenError(f"{quote(name)} is not the name of a node", hint, exit_code=2)
    reader = Reader(directory)
    for name in directories:
        yield reader.node(name)


class Reader:
    """Reads the directories of nodes. Equal outputs of many machines are parsed once."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)
        self._alike: dict[tuple[str, bytes], Any] = {}

    def node(self, name: str) -> NodeFacts:
        """One machine; what cannot be read is in `unread`, and costs nothing else."""
        directory = f"{self._directory}/{name}"
        unread: list[str] = []
        try:
            with os.scandir(directory) as entries:
                names = sorted(entry.name for entry in entries)
        except OSError as err:
            return NodeFacts(name, unread=(f"the directory: {reason_of(err)}",))

        present = {_file(entry): entry for entry in reversed(names) if _file(entry) in _FILES}

        def output(file: str, reader: Callable[[str], T], otherwise: Any = None) -> T | Any:
            if file not in present:
                return otherwise
            try:
                return self._parsed(f"{directory}/{present[file]}", file, reader)
            except OSError as err:
                unread.append(f"{file}: {reason_of(err)}")
            except (ValueError, TypeError, AttributeError) as err:
                unread.append(f"{file}: {' '.join(str(err).split())[:120]}")
            return otherwise

        line, cpus, memory = output("slurmd-C", processors.slurmd, ("", None, None))
        counted = output("lscpu.json", processors.lscpu) or output("lscpu", processors.lscpu)
        if cpus and counted:
            numa = counted.numa_per_socket if counted.sockets == cpus.sockets else None
            cpus = replace(
                cpus, model=counted.model, arch=counted.arch, numa_per_socket=numa, numbering=counted.numbering
            )
        failures = output(FAILURES, commands.failures, {})
        unread += [f"{file}: {reason}" for file, reason in failures.items() if file not in nvidia.FILES]
        failure = output("nvidia-smi.csv", nvidia.failure, "")
        failure = failure or next((failures[file] for file in nvidia.FILES if file in failures), "")
        listed = () if failure else output("nvidia-smi.csv", nvidia.gpus, ())
        gpus = nvidia.combined(listed, () if failure else output("nvidia-smi-q.xml", nvidia.details, ()))
        gpus = gpus or (() if failure else output("nvidia-smi-L", nvidia.listed, ()))
        gpus = gpus or (() if failure else output("nvidia-smi", nvidia.table, ()))
        places = Topology() if failure else output("nvidia-smi-topo-m", topology, Topology())
        ports = output("ibstat", lambda text: tuple(devices.ibstat(text)), ())
        ports = ports or output("infiniband", lambda text: tuple(devices.infiniband(text)), ())
        return NodeFacts(
            name=name,
            product=output("dmidecode", commands.product, ""),
            cpus=cpus or counted,
            real_memory_mib=memory or output("meminfo", commands.meminfo_mib),
            gpus=places.placed(gpus),
            nameless_gpus=() if gpus else places.gpus,
            ports=places.located(ports),
            disks=output("lsblk.json", lambda text: tuple(commands.disks(text)), ()),
            addresses=output("ip.json", lambda text: tuple(commands.addresses(text)), ()),
            node_name_line=line,
            pci=output("lspci", lambda text: tuple(devices.lspci(text)), ()),
            interfaces=output("ip.json", commands.interfaces, ()),
            links=output("net", devices.links, ()),
            gpu_failure=failure,
            gpu_devices=output("dev", devices.gpu_devices),
            kernel=output("uname", commands.first_line, ""),
            command_line=output("cmdline", commands.command_line, ""),
            firmware=output("dmidecode", commands.firmware, ""),
            bios=output(BIOS, commands.bios_attributes, ()),
            adapter_settings=output("nic-firmware", devices.adapter_settings, ()),
            bmc=output(BMC, commands.bmc),
            tree=output(TREE, commands.tree_state),
            unreachable=output(UNREACHABLE, commands.first_line, ""),
            files=frozenset(present),
            others=tuple(entry for entry in names if _file(entry) not in _FILES)[:_MOST_OTHERS],
            unread=tuple(dict.fromkeys(unread)),  # last: the readers above fill it
        )

    def _parsed(self, path: str, file: str, reader: Callable[[str], T]) -> T:
        content = regular_file.read(path, MOST_BYTES)
        key = (f"{file} {reader.__qualname__}", content)
        if key in self._alike:
            facts: T = self._alike[key]
            return facts
        facts = reader(content.decode("utf-8", errors="replace"))
        if len(content) <= _ALIKE_BYTES and len(self._alike) < _MOST_ALIKE:
            self._alike[key] = facts
        return facts
