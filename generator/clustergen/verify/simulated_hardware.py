"""Simulates the hardware of nodes for slurmd: texts for hwloc, for nvml.c and memory.c, and the device files.

Everything follows from the hardware of the node type in the manifest and the catalogue, and from how slurm.conf asks
slurmd to count sockets; nothing from what the files say about the hardware, as slurmd is to compare the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from clustergen.catalogue.mig import mig_placement
from clustergen.catalogue.systems import Cpu
from clustergen.cluster.cores import ranges
from clustergen.hostlist import HostlistError, contains
from clustergen.records import record
from clustergen.render.node_hardware import Hardware
from clustergen.slurmconf import Line, parse
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import roots

COMPILERS = ("tcc", "cc", "gcc")
AS_SOCKET = ("numa_node_as_socket", "l3cache_as_socket")
NVML_PLUGIN = "gpu_nvml.so"
_FIRST_CAP = 16  # number of the first device below /dev/nvidia-caps; the driver's own choice
_TYPE = re.compile(r"\bgpu:([^:,(]*[^:,(\d][^:,(]*)")
_UNKNOWN_MIB = 1 << 30  # enough for every RealMemory and TmpDisk
_GIB_BY_NAME = re.compile(r"\.(\d+)gb")


@record
class Node:
    """A node to ask about: its hardware, by GPU the MIG profiles that it is split into (profile → instances), and
    slurmd's options. `files` of /etc/slurm are its own where slurmctld hands out the others; None where nobody knows.
    """

    name: str
    hardware: Hardware
    mig: tuple[Mapping[str, int] | None, ...] = ()
    options: tuple[str, ...] = ()
    files: tuple[str, ...] | None = None

    @property
    def count(self) -> int:
        """GPUs as slurmd should list them: whole ones and instances."""
        split = [sum(layout.values()) for layout in self.mig if layout is not None]
        return len(self.hardware.cpus) - len(split) + sum(split)


@record
class Settings:
    """The settings of the two files: lines of nodes, words of SlurmdParameters, host lists with AutoDetect ("" for
    all).
    """

    nodes: tuple[Line, ...]
    types: str
    parameters: frozenset[str]
    detecting: tuple[str, ...]

    @classmethod
    def read(cls, slurm_conf: str, gres_conf: str) -> Settings:
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


@cache
def libraries() -> Mapping[str, str]:
    """nvml.c and memory.c as shared libraries in base64, by the name that slurmd looks for. Raises SandboxError."""
    for root in (*roots(), Path("/")):
        if compiler := next((name for name in COMPILERS if (root / "usr/bin" / name).exists()), None):
            break
    else:
        raise sandbox.SandboxError(
            "no compiler (tcc, cc or gcc) here for the libraries that simulate hardware: run clustergen setup parsers"
        )
    names = {"libnvidia-ml.so.1": "nvml.c", "memory.so": "memory.c"}
    build = f'{compiler} -shared -fPIC -nostdlib -Wl,-soname="$1" -o /tmp/lib "/run/clustergen/$2" && base64 /tmp/lib'
    box = sandbox.Sandbox(root, is_one_user=True)
    built = {}
    for name, source in names.items():
        notes = {source: Path(__file__).with_name(source).read_text(encoding="utf-8")}
        done = sandbox.run(box, ["/bin/sh", "-c", build, "sh", name, source], timeout=60, notes=notes)
        if done.code != 0:
            raise sandbox.SandboxError(f"{source}: {done.stderr.strip() or 'the compiler ran out of time'}")
        built[name] = done.stdout
    return MappingProxyType(built)


def not_simulated() -> str:
    """Why no hardware can be simulated here; "" where it can."""
    try:
        libraries()
    except sandbox.SandboxError as error:
        return str(error)
    return ""


def texts(settings: Settings, node: Node) -> dict[str, str]:
    """The files that simulate a node in a sandbox, by what reads them."""
    instances = list(_instances(node))
    minors = dict(_minors(instances))
    devices = [f"/dev/nvidia{number}" for number in range(len(node.hardware.cpus))]
    devices += [f"/dev/nvidia-caps/nvidia-cap{minor}" for minor in minors.values()]
    devices += node.hardware.devices
    lines: dict[str, Iterable[str]] = {
        "nvml": _nvml(node, _affinities(settings, node), instances),
        "hwloc": [_hwloc(settings, node)],
        "minors": [f"{name} {minor}" for name, minor in minors.items()],
        "devices": devices,
        "options": node.options,
        **({} if node.files is None else {"files": node.files}),
        "memory": [str(node.hardware.memory or _UNKNOWN_MIB)],
        "disk": [str(node.hardware.disk or _UNKNOWN_MIB)],
    }
    return {name: "".join(f"{line}\n" for line in some) for name, some in lines.items()}


def detected_lines(settings: Settings, node: Node) -> Iterator[str]:
    """Lines of gres.conf in place of AutoDetect=nvml, which gives a GPU the type of slurm.conf that is in its name."""
    if not settings.detects(node.name):
        return
    line = settings.node(node.name)
    types = _TYPE.findall((line.get("Gres") if line else None) or "")
    split = {gpu for gpu, layout in enumerate(node.mig) if layout is not None}
    whole = [(gpu, "", f"/dev/nvidia{gpu}") for gpu in range(len(node.hardware.cpus)) if gpu not in split]
    parts = [
        (gpu, f"_{profile}", f"/dev/nvidia-caps/nvidia-cap{_FIRST_CAP + 2 * number}")
        for number, (gpu, _, _, _, profile) in enumerate(_instances(node))
    ]
    for _, profile, file in (*whole, *parts):
        name = node.hardware.gpu.lower().replace(" ", "_")
        name = name.partition("-")[0] + profile if profile else name  # as gpu/nvml names instances
        kind = max((one for one in types if one in name), key=len, default=name)
        yield f"NodeName={node.name} Name=gpu Type={kind} File={file}\n"


def _is_of(names: str, host: str) -> bool:
    try:
        return contains(names, host)
    except HostlistError:
        return False  # slurmctld has its own words about such a list


def _affinities(settings: Settings, node: Node) -> tuple[str, ...]:
    """By GPU, the CPUs next to it; where lines per device name them and sockets have parts, those of the socket."""
    hardware = node.hardware
    if hardware.numa == 1 or settings.detects(node.name) or settings.parameters.intersection(AS_SOCKET):
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


def _hwloc(settings: Settings, node: Node) -> str:
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
