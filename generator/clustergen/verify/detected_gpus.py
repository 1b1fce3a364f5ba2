"""Asks the real slurmd which GPUs its AutoDetect=nvml detects on nodes of some hardware, and whether gres.conf agrees.

slurmd's NVML plugin calls nvml.c, a library of ours that answers from a text file; hwloc reads the processors from a
variable. Nothing else is needed for `slurmd -G`, so slurm.conf shrinks to what it reads: the nodes, and how it counts
sockets. Nodes with lines per device are asked with AutoDetect=nvml beside these lines, and slurmd compares the two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clustergen.catalogue.mig import mig_placement
from clustergen.catalogue.systems import Cpu
from clustergen.cluster.cores import ranges
from clustergen.hostlist import HostlistError, contains
from clustergen.records import record
from clustergen.render.node_hardware import Hardware
from clustergen.slurmconf import Line, parse
from clustergen.verify import sandbox
from clustergen.verify.programs import TIMEOUT
from clustergen.verify.slurm_daemons import cgroup_plugin
from clustergen.verify.slurm_roots import SlurmInstall

PLUGIN = "gpu_nvml.so"
_NODE_KEYS = ("sockets", "boards", "socketsperboard", "corespersocket", "threadspercore", "cpus", "procs", "gres")
_AS_SOCKET = ("numa_node_as_socket", "l3cache_as_socket")
_AUTODETECT = re.compile(r"\bAutoDetect\s*=\s*\w+", re.IGNORECASE)
_LATE = 124  # exit status of the script when an answer takes longer
_LIMIT = 50  # seconds for one slurmd -G, which takes less than one
_FIRST_CAP = 16  # number of the first device below /dev/nvidia-caps; the driver's own choice

_GIB_BY_NAME = re.compile(r"\.(\d+)gb")
_COMPLAINT = re.compile(r"(?:^|\s)((?:fatal|error|warning): .*|Node reconfigured socket/core boundaries.*)")
_LISTED = re.compile(r"(?:^|\s)(Gres Name=gpu (?:Type=(?:\(null\)|(\S+)) )?Count=(\d+)\b.*)")
_DETECTED = re.compile(r"\b(\d+) GPU system device\(s\) detected")
_SEEN = re.compile(r"\sCPUs:(\d+) Boards:(\d+) Sockets:(\d+) CoresPerSocket:(\d+) ThreadsPerCore:(\d+)")
_NOT_LOADED = re.compile(r"We were configured with nvml functionality, but that lib wasn't found.*")
_OF_THE_SANDBOX = re.compile(r"_nvml_get_mem_freqs|fetch_config|plugstack")


@record
class Node:
    """A node to ask about: its hardware, and by GPU the MIG profiles that it is split into (profile → instances)."""

    name: str
    hardware: Hardware
    mig: tuple[Mapping[str, int] | None, ...] = ()

    @property
    def count(self) -> int:
        """GPUs as slurmd should list them: whole ones and instances."""
        split = [sum(layout.values()) for layout in self.mig if layout is not None]
        return len(self.hardware.cpus) - len(split) + sum(split)


@record
class Detected:
    """The answer of slurmd for a node: complaints in its own words, and how many GPUs it listed of each type."""

    complaints: tuple[str, ...]
    types: Mapping[str, int]


def has_plugin(install: SlurmInstall) -> bool:
    """True if this Slurm has the NVML plugin."""
    return install.has_plugin(PLUGIN)


def has_compiler(install: SlurmInstall) -> bool:
    """True if its root has a compiler for the NVML library."""
    return any((install.path / "usr/bin" / name).exists() for name in ("tcc", "cc", "gcc"))


def detect(install: SlurmInstall, slurm_conf: str, gres_conf: str, nodes: Sequence[Node]) -> dict[str, Detected]:
    """By node. `slurm_conf` and `gres_conf` are the files' texts. Raises SandboxError where nothing can be run here."""
    module = Path(__file__)
    settings = _Settings.read(slurm_conf, gres_conf)
    notes = {
        "nvml.c": module.with_name("nvml.c").read_text(encoding="utf-8"),
        "detect_gpus.sh": module.with_name("detect_gpus.sh").read_text(encoding="utf-8"),
        "slurm.conf": _slurm_conf(settings, nodes),
        "gres.conf": _gres_conf(settings, gres_conf, nodes),
        "cgroup.conf": f"CgroupPlugin={cgroup_plugin(install.release)}\n",
        "devices": "".join(f"{device}\n" for node in nodes for device in node.hardware.devices),
        "nodes": "".join(f"{number} {node.name}\n" for number, node in enumerate(nodes)),
    }
    for number, node in enumerate(nodes):
        instances = list(_instances(node))
        minors = dict(_minors(instances))
        texts = {
            "nvml": _nvml(node, _affinities(settings, node), instances),
            "hwloc": [_hwloc(settings, node)],
            "minors": [f"{name} {minor}" for name, minor in minors.items()],
        }
        notes |= {f"{number}.{name}": "".join(f"{line}\n" for line in lines) for name, lines in texts.items()}
    box = sandbox.Sandbox(install.path)  # slurmd drops groups, which takes a range of ids
    script = ["/bin/bash", "/run/clustergen/detect_gpus.sh"]
    done = sandbox.run(box, script, timeout=TIMEOUT, env={"LIMIT": str(_LIMIT)}, notes=notes)
    if done.code in (None, _LATE):
        raise sandbox.SandboxError("slurmd -G ran out of time")
    if done.code != 0:
        raise sandbox.SandboxError(done.stderr.strip() or f"detect_gpus.sh: exit status {done.code}")
    logs = [done.files.get(f"{number}.log", "") for number in range(len(nodes))]
    if refused := next((match[0] for match in map(_NOT_LOADED.search, logs) if match), None):
        raise sandbox.SandboxError(refused)
    return {
        node.name: _judged(node, log, None if settings.overrides else settings.node(node.name))
        for node, log in zip(nodes, logs, strict=True)
    }


def _judged(node: Node, log: str, line: Line | None) -> Detected:
    complaints: dict[str, None] = {}
    listed: dict[str, tuple[str, int]] = {}  # releases say it on stderr, in the log file, or in both
    for text in log.splitlines():
        if match := _LISTED.search(text):
            listed[match[1]] = match[2] or "", int(match[3])
        elif (match := _COMPLAINT.search(text)) and not _OF_THE_SANDBOX.search(text):
            complaints[match[1]] = None
    types: Counter[str] = Counter()
    for name, count in listed.values():
        types[name] += count
    seen = next(iter(_SEEN.findall(log)), None)
    if seen is None:
        complaints.setdefault("slurmd -G did not come to the processors", None)
    elif line is not None:
        complaints |= dict.fromkeys(_processors(line, seen))
    gpus = len(node.hardware.cpus)
    detected = next(map(int, _DETECTED.findall(log)), 0)
    if detected != gpus:
        complaints[f"detects {detected} GPUs of {gpus}"] = None
    elif types.total() != node.count:
        complaints[f"lists {types.total()} GPUs and MIG instances of {node.count}"] = None
    return Detected(tuple(complaints), types)


def _processors(line: Line, seen: tuple[str, ...]) -> Iterator[str]:
    """Where slurm.conf has other numbers than slurmd sees."""
    cpus, boards, sockets, cores, threads = seen
    for key, value in (
        ("CPUs", cpus),
        ("Boards", boards),
        ("Sockets", sockets),
        ("CoresPerSocket", cores),
        ("ThreadsPerCore", threads),
    ):
        stated = line.get(key)
        if stated is not None and stated != value and not (key == "CPUs" and int(value) == int(stated) * int(threads)):
            yield f"slurm.conf has {key}={stated}, slurmd finds {value}"


@record
class _Settings:
    """The settings of the two files: lines of nodes, words of SlurmdParameters, host lists with AutoDetect ("" for
    all).
    """

    nodes: tuple[Line, ...]
    types: str
    parameters: frozenset[str]
    detecting: tuple[str, ...]

    @classmethod
    def read(cls, slurm_conf: str, gres_conf: str) -> _Settings:
        lines = parse(slurm_conf, "slurm.conf")
        values = {line.key: line.get(line.key) or "" for line in lines}
        return cls(
            tuple(line for line in lines if line.key == "nodename"),
            values.get("grestypes") or "gpu",
            frozenset(values.get("slurmdparameters", "").lower().split(",")),
            tuple(line.get("NodeName") or "" for line in parse(gres_conf, "gres.conf") if line.get("AutoDetect")),
        )

    @property
    def overrides(self) -> bool:
        """True if slurm.conf may differ from the hardware."""
        return "config_overrides" in self.parameters

    def node(self, host: str) -> Line | None:
        return next((line for line in self.nodes if _is_of(line.get("NodeName") or "", host)), None)

    def detects(self, host: str) -> bool:
        return any(names == "" or _is_of(names, host) for names in self.detecting)


def _is_of(names: str, host: str) -> bool:
    try:
        return contains(names, host)
    except HostlistError:
        return False  # slurmctld has its own words about such a list


def _slurm_conf(settings: _Settings, nodes: Sequence[Node]) -> str:
    parameters = ",".join(word for word in _AS_SOCKET if word in settings.parameters)
    output = [
        "ClusterName=verify\nSlurmctldHost=verify\nSlurmUser=root\nAuthType=auth/none\nCredType=cred/none",
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSlurmdSpoolDir=/var/spool/slurmd/%n",
        f"GresTypes={settings.types}",
        f"SlurmdParameters={parameters}" if parameters else "",
    ]
    for node in nodes:
        line = settings.node(node.name)
        pairs = [pair for pair in line.pairs if pair.key.lower() in _NODE_KEYS] if line else []
        output.append(" ".join([f"NodeName={node.name}", *(f"{pair.key}={pair.value}" for pair in pairs)]))
    return "\n".join([*output, "PartitionName=all Nodes=ALL", ""])


def _gres_conf(settings: _Settings, text: str, nodes: Sequence[Node]) -> str:
    """With AutoDetect=nvml for every node with GPUs, in place of any other method; off where no node has any."""
    names = [node.name for node in nodes if node.hardware.cpus and not settings.detects(node.name)]
    method = "nvml" if any(node.hardware.cpus for node in nodes) else "off"
    return "".join(
        [*(f"NodeName={name} AutoDetect=nvml\n" for name in names), _AUTODETECT.sub(f"AutoDetect={method}", text)]
    )


def _affinities(settings: _Settings, node: Node) -> tuple[str, ...]:
    """By GPU, the CPUs next to it; where lines per device name them and sockets have parts, those of the socket."""
    hardware = node.hardware
    if hardware.numa == 1 or settings.detects(node.name) or settings.parameters.intersection(_AS_SOCKET):
        return hardware.cpus
    cpu = Cpu(hardware.sockets, hardware.cores, hardware.threads)
    numbers = list(_numbers(hardware))
    width = cpu.cores_per_socket * cpu.threads_per_core
    sockets = [numbers[start : start + width] for start in range(0, len(numbers), width)]
    firsts = [int(re.findall(r"\d+", cpus)[0]) for cpus in hardware.cpus]
    return tuple(ranges(sorted(next((one for one in sockets if first in one), [first]))) for first in firsts)


def _instances(node: Node) -> Iterator[tuple[int, int, int, int, str]]:
    """MIG instances as (GPU, GPU instance, compute slices, MiB, profile)."""
    for gpu, layout in enumerate(node.mig):
        if layout is None:
            continue
        try:
            placed = mig_placement(node.hardware.mig_family, layout)
        except KeyError:
            placed = ()  # a profile that this GPU does not have: slurmd misses the instance
        for number, (profile, _) in enumerate(placed or ()):
            gib = profile.memory_gib or int(_GIB_BY_NAME.findall(profile.profile)[0])
            yield gpu, number + 1, profile.compute, int(gib * 1024), profile.profile


def _nvml(node: Node, affinities: Sequence[str], instances: Sequence[tuple[int, int, int, int, str]]) -> Iterator[str]:
    """The lines of nvml.c's file; PCI addresses are invented, and those of switches are no GPU's."""
    hardware = node.hardware
    split = {gpu for gpu, layout in enumerate(node.mig) if layout is not None}
    for gpu, cpus in enumerate(affinities):
        yield f"gpu {gpu} {_pci(gpu)} {cpus} {int(gpu in split)} {hardware.gpu}"
    for gpu in range(len(hardware.cpus)):
        ends = [_pci(len(hardware.cpus) + link % 4) for link in range(hardware.switch_links)]
        if hardware.links:
            ends = [_pci(other) for other, count in enumerate(hardware.links[gpu]) for _ in range(count)]
        yield from (f"link {gpu} {lane} {end}" for lane, end in enumerate(ends))
    for gpu, instance, slices, mib, profile in instances:
        yield f"mig {gpu} {instance} 0 {slices} {mib} {profile}"


def _pci(number: int) -> str:
    return f"0000:{number + 16:02x}:00.0"


def _minors(instances: Sequence[tuple[int, int, int, int, str]]) -> Iterator[tuple[str, int]]:
    """The lines of the driver's file mig-minors: a device each for the GPU instance and its compute instance."""
    minor = _FIRST_CAP
    for gpu, instance, *_ in instances:
        yield f"gpu{gpu}/gi{instance}/access", minor
        yield f"gpu{gpu}/gi{instance}/ci0/access", minor + 1
        minor += 2


def _numbers(hardware: Hardware) -> Iterator[int]:
    """The kernel's numbers of all threads, in Slurm's order."""
    cpu = Cpu(hardware.sockets, hardware.cores, hardware.threads)
    for core in range(cpu.cores):
        yield from (cpu.linux_cpu(core, thread, hardware.numbering) for thread in range(hardware.threads))


def _hwloc(settings: _Settings, node: Node) -> str:
    """For HWLOC_SYNTHETIC. Nobody knows the L3 caches: where slurm.conf counts them, there are as many as it says."""
    hardware = node.hardware
    line = settings.node(node.name)
    stated = (line.get("Sockets") if line and "l3cache_as_socket" in settings.parameters else None) or "0"
    caches = max(1, int(stated) // (hardware.sockets * hardware.numa) if stated.isdecimal() else 1)
    width = hardware.cores // hardware.numa // caches
    order = ",".join(map(str, _numbers(hardware)))
    return (
        f"pack:{hardware.sockets} numa:{hardware.numa} l3:{caches} core:{width} pu:{hardware.threads}(indexes={order})"
    )
