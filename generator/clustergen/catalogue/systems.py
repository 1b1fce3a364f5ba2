"""Whole servers: processors, memory, GPUs, and what hangs where in them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from clustergen.catalogue.hardware import nic as nic_of
from clustergen.catalogue.tables import DATA, NOTHING, cells, normal, row_reader
from clustergen.records import record, replace

_DIRECTORY = DATA / "systems"
_NAMES = re.compile(r"^name: (?P<name>.+)\n(?:aliases: \[(?P<aliases>.+)\]\n)?", re.MULTILINE)
_ALIAS = re.compile(r"[^ ,]+")


@record
class Cpu:
    """The processors of a server, counted as Slurm counts them."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int = 1
    numa_per_socket: int = 1
    model: str = ""

    @property
    def counts(self) -> tuple[int, ...]:
        """Sockets, cores, threads and NUMA nodes: all but the name."""
        return (self.sockets, self.cores_per_socket, self.threads_per_core, self.numa_per_socket)

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket

    @property
    def threads(self) -> int:
        return self.cores * self.threads_per_core

    @property
    def numa_nodes(self) -> int:
        return self.sockets * self.numa_per_socket

    def linux_cpu(self, core: int, thread: int, numbering: str) -> int:
        """The kernel's number of a thread of one of Slurm's cores; `numbering`: sockets, alternating or siblings."""
        if numbering == "siblings":
            return core * self.threads_per_core + thread
        if numbering == "alternating":
            socket, place = divmod(core, self.cores_per_socket)
            core = place * self.sockets + socket
        return thread * self.cores + core

    def cores_of_socket(self, socket: int) -> str:
        """Slurm's core numbers of one socket, such as `56-111`."""
        first = socket * self.cores_per_socket
        return _span(first, self.cores_per_socket)

    def cores_of_numa(self, numa: int) -> str:
        """Slurm's core numbers of one NUMA node, such as `48-63`."""
        width = self.cores_per_socket // self.numa_per_socket
        return _span(numa * width, width)


@record
class Psu:
    """Power supplies: `installed` of `watt` each, `redundant` of which may fail at full load; None: not known."""

    installed: int
    watt: int
    redundant: int | None = None
    inlet: str = ""
    """C14 or C20, one cord for each supply; empty: not known."""
    volts: tuple[int, int] | None = None
    """Least and highest input voltage, AC."""


@record
class SystemGpu:
    """Where one GPU hangs. Empty text or None: not known."""

    ordinal: int
    """Position in PCI order, which is the order of Slurm's Links and of nvidia-smi."""
    socket: int
    cores: str
    """Slurm's core numbers (not Linux CPU numbers) next to the GPU: its NUMA node, else its socket."""
    pci: str = ""
    numa: int | None = None
    cpus: str = ""
    """The same as Linux CPU numbers, hyper-threads included."""
    rdma: str = ""
    """The RDMA device of the compute port next to it."""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class SystemNic:
    """One network port. Its netdev name follows the port's type: `netdev_ib` for InfiniBand, `netdev_eth` else."""

    role: str
    """compute, storage, inband, management, or bmc for the baseboard management controller's own port."""
    nic: str
    """Id of the adapter in `hardware.nics()`; empty when not known."""
    rdma: str = ""
    pci: str = ""
    netdev_ib: str = ""
    netdev_eth: str = ""
    gpus: tuple[int, ...] = ()
    """Ordinals of the GPUs that it is next to."""
    numa: int | None = None
    gbit: int | None = None
    label: str = ""
    """The port as the maker prints it, such as OSFP1P1; else the name of its device."""
    cage: str = ""
    """The opening that the plug goes into: ports with the same cage share one plug, and so one module."""
    connector: str = ""
    """Id in `cabling.connectors()`; empty: not known."""
    link: str = ""
    """infiniband or ethernet: what the port is shipped as; empty where it follows the fabric."""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class System:
    """A server product. `unverified` names fields (or `cpu.numa_per_socket`, and `layout` for the per-GPU rows)."""

    id: str
    name: str
    cpu: Cpu
    memory_mib: int
    """Installed memory in MiB; what Linux reports is one to two per cent less."""
    gpu: str | None = None
    """Id in `hardware.gpus()`."""
    gpu_count: int = 0
    gpu_options: tuple[str, ...] = ()
    """Other GPUs that the same system is sold with."""
    fabric: str = "none"
    """How the GPUs are joined by NVLink: nvswitch, mesh, pairs or none."""
    link_label: str = ""
    """The word of `nvidia-smi topo -m` for two GPUs joined by NVLink."""
    links: tuple[str, ...] = ()
    """Slurm's Links of each GPU, in order; empty when every link ends at a switch or there is none."""
    nvlink_domain_nodes: int = 1
    """How many such servers share one NVLink domain."""
    gpus: tuple[SystemGpu, ...] = ()
    nics: tuple[SystemNic, ...] = ()
    arch: str = "x86_64"
    """The architecture, as `uname -m` prints it; empty: not known."""
    memory_seen_mib: int | None = None
    psu: Psu | None = None
    power_max_w: int | None = None
    """The most that the whole server takes at the wall, in watts."""
    rack_units: int | None = None
    depth_mm: int | None = None
    weight_kg: float | None = None
    inlet_c: tuple[int, int] | None = None
    airflow_cfm: int | None = None
    heat_btu_h: int | None = None
    """Heat as the maker prints it; None: what follows from the power."""
    liquid_share_pct: int | None = None
    """Share of the heat that leaves by liquid."""
    cooling: str = ""
    aliases: tuple[str, ...] = ()
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    def nics_of(self, role: str) -> tuple[SystemNic, ...]:
        """The ports with that role."""
        return tuple(nic for nic in self.nics if nic.role == role)


def _span(first: int, count: int) -> str:
    return f"{first}-{first + count - 1}" if count > 1 else str(first)


def spread_gpus(cpu: Cpu, count: int) -> tuple[SystemGpu, ...]:
    """Rows for GPUs of which only the count is known: in order over the sockets, each with all cores of its socket."""
    if cpu.sockets < 1:
        return ()
    places = []
    for index in range(count):
        socket = index * cpu.sockets // count
        numa = socket if cpu.numa_per_socket == 1 else None
        places.append(SystemGpu(ordinal=index, socket=socket, cores=cpu.cores_of_socket(socket), numa=numa))
    return tuple(places)


def spread_nics(
    nic: str, count: int, gbit: int, gpus: int, prefix: str = "mlx5_", connector: str = ""
) -> tuple[SystemNic, ...]:
    """Compute ports of which only the count is known: `mlx5_0` onwards, the GPUs shared out among them in order."""
    model = nic_of(nic)
    marks = frozenset({"nic", "rdma", "gpus", "label", "cage"})
    return tuple(
        SystemNic(
            role="compute",
            nic=nic,
            rdma=f"{prefix}{index}",
            gpus=tuple(g for g in range(gpus) if g * count // gpus == index),
            gbit=gbit,
            label=f"{prefix}{index}",
            cage=f"{prefix}{index}",
            connector=connector or (model.connector if model else ""),
            unverified=marks if connector else marks | {"connector"},
        )
        for index in range(count)
    )


def _with_place(port: SystemNic) -> SystemNic:
    """A port of a table with its label, cage and connector, from its device and its adapter where the row has none."""
    if port.connector and port.label and port.cage:
        return port
    model = nic_of(port.nic)
    label = port.label or port.rdma or port.netdev_eth
    connector = port.connector or (model.connector if model else "")
    guessed = {
        name for name, value in (("label", port.label), ("cage", port.cage), ("connector", port.connector)) if not value
    }
    return replace(
        port, label=label, cage=port.cage or label, connector=connector, unverified=port.unverified | guessed
    )


@cache
def system_names() -> dict[str, str]:
    """Every way to write a system, in its compared form, → id. Reads the lines of names: a manifest has few systems."""
    names: dict[str, str] = {}
    for ident in system_ids():
        match = _NAMES.search(_text(ident))
        assert match, f"{ident}: `name` is the first key of a system, and `aliases` the second"
        names |= dict.fromkeys(map(normal, (ident, match["name"], *_ALIAS.findall(match["aliases"] or ""))), ident)
    return names


@cache
def system_ids() -> tuple[str, ...]:
    """The ids of all systems, sorted; reads no system."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("*.yaml")))


def system(name: str) -> System | None:
    """The system of that id, alias or product name. Only its own file is read."""
    identifier = system_names().get(normal(name))
    return _load(identifier) if identifier is not None else None


@cache
def _layout_nics() -> dict[str, tuple[SystemNic, ...]]:
    header, lines = cells("system_nics.tsv")
    read = row_reader("system_nics.tsv", header, SystemNic)
    layouts: dict[str, list[SystemNic]] = {}
    for row in lines:
        layouts.setdefault(row[0], []).append(_with_place(read(row)))
    return {layout: tuple(nics) for layout, nics in layouts.items()}


def _measured_gpus(layout: str, cpu: Cpu) -> tuple[SystemGpu, ...]:
    header, lines = cells("system_gpus.tsv")
    read, numa = row_reader("system_gpus.tsv", header, SystemGpu), header.index("numa")
    return tuple(read(row, socket=int(row[numa]) // cpu.numa_per_socket) for row in lines if row[0] == layout)


@cache
def _load(ident: str) -> System:
    return read_system(ident, _text(ident))


def _text(ident: str) -> str:
    return (_DIRECTORY / f"{ident}.yaml").read_text(encoding="utf-8")


def read_system(ident: str, text: str) -> System:
    """The system that the text of its file describes."""
    import yaml

    raw: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    cpu = Cpu(**raw.pop("cpu"))
    count = raw.pop("gpu_count")
    layout = raw.pop("layout", None)
    assumed = raw.pop("assumed_nics", None)
    if layout is not None:
        gpus, nics = _measured_gpus(layout, cpu), _layout_nics().get(layout, ())
    else:
        gpus = spread_gpus(cpu, count)
        nics = (*(spread_nics(gpus=count, **assumed) if assumed else ()), *_layout_nics().get(ident, ()))
        nearest = {index: nic.rdma for nic in nics for index in nic.gpus}
        gpus = tuple(replace(gpu, rdma=nearest.get(gpu.ordinal, "")) for gpu in gpus)
    domain = raw.pop("nvlink_domain", None)
    psu = raw.pop("psu", None)
    inlet = raw.pop("inlet_c", None)
    return System(
        id=ident,
        aliases=tuple(raw.pop("aliases", ())),
        cpu=cpu,
        gpu_count=count,
        gpus=gpus,
        nics=nics,
        gpu_options=tuple(raw.pop("gpu_options", ())),
        links=tuple(raw.pop("links", ())),
        nvlink_domain_nodes=domain["nodes"] if domain else 1,
        psu=Psu(**{**psu, "volts": tuple(psu["volts"]) if "volts" in psu else None}) if psu else None,
        inlet_c=(inlet[0], inlet[1]) if inlet else None,
        unverified=frozenset(raw.pop("unverified", ())),
        source=tuple(raw.pop("source")),
        **raw,
    )
