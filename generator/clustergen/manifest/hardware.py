"""Node types on catalogue systems, with every field open to override; racks; and a site's own catalogue rows."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from clustergen.manifest.accelerators import DriverBranch, KernelModules
from clustergen.manifest.base import (
    Device,
    HostList,
    ModelName,
    Name,
    OneLine,
    Options,
    PlaceName,
    Rate,
    Section,
    SlurmName,
    field,
    section,
    text,
)
from clustergen.manifest.catalogue_names import OsName, SystemName
from clustergen.manifest.composition import Place, composed
from clustergen.manifest.rewrites import Fits
from clustergen.units import Bytes, Kilo, Watts

MOST_WEIGHT = 4294967280  # of a node, for Slurm
NodeWeight = Annotated[int, Field(ge=1, le=MOST_WEIGHT)]
Small = Annotated[int, Field(ge=1, le=4096)]
PciAddress = Annotated[
    str,
    text(
        r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$",
        "write domain, bus, device and function in lower case: 0000:1b:00.0",
    ),
]


Architecture = Literal["x86_64", "aarch64"]
Connector = Literal["rj45", "sfp28", "qsfp28", "qsfp56", "qsfp112", "qsfp-dd", "osfp", "osfp-twin", "osfp-twin-flat"]


class Cpu(Section):
    """Overrides of the system's CPUs, as `slurmd -C` prints them."""

    SOURCE: ClassVar = (
        r"(?P<sockets>[0-9]{1,2})\s*[x×*]\s*(?P<cores_per_socket>[0-9]{1,3})(?:\s*[x×*]\s*(?P<threads_per_core>[0-9]))?"
    )

    model: (
        Annotated[str, text(r"^[A-Za-z0-9 ()+_.@-]+$", "use letters, digits, blanks and ( ) + _ . @ -", 80)] | None
    ) = field(None, "Display name.")
    sockets: Small | None = field(None, "Physical packages.")
    cores_per_socket: Annotated[int, Field(ge=1, le=512)] | None = field(None, "Physical cores in a package.")
    threads_per_core: Annotated[int, Field(ge=1, le=8)] | None = field(
        None, "Hardware threads of a core: 2 with hyper-threading, 1 without."
    )
    numa_per_socket: Annotated[int, Field(ge=1, le=16)] | None = field(None, "NUMA nodes in a package (NPS on EPYC).")
    numbering: Literal["sockets", "alternating", "siblings"] | None = field(
        None,
        "How Linux numbers CPUs, by `lscpu -e`: sockets (default): one socket after the other, second threads last;"
        " alternating: even numbers on one socket, odd ones on the other; siblings: threads of a core side by side.",
    )


class Gpus(Section):
    """Overrides of the system's GPUs."""

    MEANT_BY_SCALAR: ClassVar = "model"

    model: str | None = field(
        None,
        "GPU in the catalogue, as h100-sxm, a100-sxm-80 or rtx-a6000; unknown: an NVIDIA GPU of unknown model.",
        max_length=63,
    )
    count: Annotated[int, Field(ge=0, le=64)] | None = field(None, "Number of GPUs in the node.")
    gres_type: SlurmName | Literal[False] | None = field(
        None, "Type in Gres=gpu:TYPE:N; must be part of the name that NVML reports. false: no type, as in gpu:N."
    )
    mig_prefix: SlurmName | Literal[False] | None = field(
        None, "Prefix of MIG types: a100 for a100_1g.5gb; default: the whole type that Slurm detects; false: 1g.5gb."
    )
    numa: tuple[Annotated[int, Field(ge=0, le=255)], ...] | None = field(
        None, "NUMA node of each GPU, in /dev/nvidia order."
    )
    pci: tuple[PciAddress, ...] | None = field(
        None, "PCI address of each GPU, in /dev/nvidia order; for NCCL's topology file."
    )
    autodetect: Literal["nvml", "nvidia", "off"] | None = field(
        None,
        "AutoDetect of slurmd; default off: device files in gres.conf, and nvml for GPUs split by MIG.",
    )
    links: tuple[tuple[Annotated[int, Field(ge=-1, le=64)], ...], ...] | None = field(
        None, "NVLinks between GPUs, a row per GPU with -1 on the diagonal; only with autodetect off."
    )
    nvlink: bool | None = field(None, "false if NVLink bridges are not installed.")
    driver: DriverBranch | None = field(None, "Driver branch, if it differs from the cluster's (gpu.driver).")
    kernel_modules: KernelModules | None = field(None, "Kernel modules, if they differ from gpu.kernel_modules.")
    mig: Name | Annotated[dict[Annotated[int, Field(ge=0, le=63, strict=False)], Name], Field(min_length=1)] | None = (
        field(None, "MIG plan (gpu.mig_plans) of all GPUs, or of each by index.")
    )
    shards: Annotated[int, Field(ge=1, le=1024)] | None = field(
        None, "Slurm shards per GPU; they share a GPU without memory limits."
    )
    mps: Annotated[int, Field(ge=100, le=1600, multiple_of=100)] | None = field(
        None, "CUDA MPS percents per GPU (100)."
    )
    power_limit: Watts | None = field(None, "Power limit of each GPU (nvidia-smi -pl).")
    graphics_clock: Annotated[int, Field(ge=100, le=5000)] | Literal["max"] | None = field(
        None, "Locked clock in MHz (nvidia-smi -lgc); max is the maximum clock that NVML lists."
    )


def _without_port(value: str, fits: Fits) -> str | None:
    """An adapter with the number of its port, as NCCL_IB_HCA has it."""
    return f"write {value.partition(':')[0]}: each RDMA device has one port" if fits(value.partition(":")[0]) else None


NicDevice = Annotated[
    str,
    text(r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", "write the name of one device, as mlx5_0 or eno1", 63, rewrite=_without_port),
]


class Nic(Section):
    """A network port of a node."""

    device: NicDevice = field(..., "RDMA device (mlx5_0), or the interface name if there is none.", sample="mlx5_0")
    interface: Device | None = field(None, "Network interface of the port.")
    model: ModelName | None = field(None, "NIC in the catalogue: cx6-vpi, ConnectX-7 …")
    connector: Connector | None = field(
        None, "Cage of the port; default: the model's; of several that it is sold with, the one that fits the switch."
    )
    network: Literal["fabric", "storage", "management"] = field("fabric", "Network to which the port is connected.")
    rail: Annotated[int, Field(ge=0, le=63)] | None = field(
        None, "Rail; default: its position among the fabric's ports."
    )
    numa: Annotated[int, Field(ge=0, le=255)] | None = field(None, "NUMA node of the port.")
    pci: PciAddress | None = field(None, "PCI address.")


def _below_dev(value: str, fits: Fits) -> str | None:
    """The path of a device."""
    name = value.removeprefix("/dev/")
    return f"write {name}" if fits(name) else None


DiskDevice = Annotated[
    str,
    text(r"^[A-Za-z0-9][A-Za-z0-9/_.:-]*$", "write the name below /dev, as nvme0n1", rewrite=_below_dev),
]


class Disk(Section):
    """A local disk."""

    device: DiskDevice = field(..., "Name below /dev.", sample="nvme0n1")
    size: Bytes = field(..., "Capacity.", sample="3.84TB")
    use: Literal["system", "scratch", "cache", "pool", "log", "spare"] = field("system", "Use of the disk.")


class Power(Section):
    """Overrides of the system's power figures."""

    MEANT_BY_SCALAR: ClassVar = "max"
    psus: Annotated[int, Field(ge=1, le=32)] | None = field(None, "Number of power supplies.")
    psu: Watts | None = field(None, "Rated power of one supply.")
    redundant: Annotated[int, Field(ge=0, le=31)] | None = field(
        None, "Number of supplies that can fail while the node runs at full load."
    )
    max: Watts | None = field(None, "Maximum wall power of the node.")


class Reserved(Section):
    """Resources that jobs cannot use, so that the system, slurmd and file system clients keep working under load."""

    cores: Annotated[int, Field(ge=0, le=512)] | None = field(
        None,
        "Cores reserved for the system (CoreSpecCount); default 0, and 1 in addition to the cores of a WEKA client.",
    )
    memory: Bytes | None = field(
        None,
        "Memory reserved for the system (MemSpecLimit); default 2 % of the node's, at least 2 GiB, at most 32 GiB or a"
        " quarter, plus 2 GiB or an eighth where slurmdbd's database is on a node that runs jobs.",
    )


GresName = Annotated[
    str, text(r"^[a-z][a-z0-9_]*$", "use lower-case letters, digits and _, and begin with a letter", 63)
]
GresCount = Annotated[str, text(r"^[1-9][0-9]{0,17}([KMGTP](iB)?)?$", "write a number, or an amount as 900GiB")]
DeviceFiles = Annotated[
    str, text(r"^/dev/[A-Za-z0-9/_.:-]*[A-Za-z0-9_.:\[\],-]+$", "write device files, as /dev/fpga[0-1]", 255)
]


class Gres(Section):
    """A generic resource (GRES) of a node that is no GPU, by its number or its device files."""

    MEANT_BY_SCALAR: ClassVar = "count"
    count: GresCount | Annotated[int, Field(ge=1)] | None = field(
        None, "Number on a node, or an amount as 900GiB; default: the number of files."
    )
    files: DeviceFiles | None = field(
        None, "Device files, as /dev/fpga[0-1]: a job can open those of its allocation only."
    )
    type: SlurmName | None = field(None, "Type that jobs can request, as in fpga:u280:1.")
    flags: tuple[SlurmName, ...] = field((), "Flags of its line in gres.conf; default CountOnly without files.")


Millimetres = Annotated[int, Field(ge=100, le=5000)]


@composed("node_types.*")
class NodeType(Section):
    """The hardware of some nodes: a catalogue system and overrides."""

    MEANT_BY_SCALAR: ClassVar = "system"
    like: Name | None = field(
        None, "Node type whose values this one takes over where it has none; null removes one. One level."
    )
    system: SystemName | None = field(
        None, "System in the catalogue or under `catalogue`; without one, cpu and memory are required."
    )
    os: OsName | None = field(None, "Operating system, if it differs from the cluster's.")
    arch: Architecture | None = field(
        None,
        "Architecture as `uname -m` prints it; default: the system's, aarch64 with a Grace superchip, otherwise the"
        " cluster's.",
    )
    memory: Bytes | None = field(None, "Installed memory of a node.")
    real_memory: Annotated[int, Field(ge=1)] | None = field(
        None, "RealMemory in MiB, as `slurmd -C` prints it; default 97 % of memory."
    )
    cpu: Cpu = section(Cpu, "CPUs.")
    gpus: Gpus = section(Gpus, "GPUs.")
    nics: tuple[Nic, ...] | None = field(None, "Network ports, instead of the catalogue's.")
    disks: tuple[Disk, ...] = field((), "Local disks.")
    power: Power = section(Power, "Power supplies and power draw.")
    rack_units: Annotated[int, Field(ge=0, le=60)] | None = field(None, "Height.")
    depth: Millimetres | None = field(None, "Depth in mm; default: that of the system.")
    reserved: Reserved = section(Reserved, "Resources reserved for the system.")
    tuning: Place
    firmware: Place
    features: tuple[SlurmName, ...] = field((), "Slurm features in addition to those derived from the hardware.")
    weight: NodeWeight | None = field(
        None,
        "Slurm weight: nodes with a lower weight are allocated first; default 10 with GPUs and 1 without, if the"
        " cluster has both.",
    )
    numa_as_socket: bool | None = field(
        None,
        "Slurm treats a NUMA node as a socket; default: if GPUs are attached to parts of a socket and the release"
        " supports it.",
    )
    gres: dict[GresName, GresCount | Annotated[int, Field(ge=1)] | Gres] = field(
        {}, "Other resources that jobs request with --gres, as {localtmp: 900GiB} or {fpga: {files: /dev/fpga[0-1]}}."
    )
    slurm_options: Options = field({}, "More keys of the NodeName line.")


class Circuit(Section):
    """A feed of a rack."""

    volts: Annotated[int, Field(ge=100, le=480)] = field(
        ..., "Line-to-line voltage for three phases, line-to-neutral for one."
    )
    amps: Annotated[int, Field(ge=1, le=400)] = field(..., "Rating of the breaker.", sample="32")
    phases: Literal[1, 3] = field(3, "Phases.")
    count: Annotated[int, Field(ge=1, le=64)] = field(1, "Feeds of this kind.")
    derate: Annotated[float, Field(gt=0, le=1)] = field(0.8, "Fraction of the rating that a continuous load may use.")
    pdu: Name | None = field(None, "Model of its rack PDU in the catalogue; defines the outlets.")
    outlets: dict[Literal["C13", "C19", "C21"], Annotated[int, Field(ge=0, le=200)]] = field(
        {}, "Outlets of its rack PDU by IEC 60320 type; default: those of pdu, otherwise not checked."
    )


class Rack(Section):
    """A rack and its contents; a host list as the name: identical racks, among which the nodes are divided."""

    nodes: HostList | None = field(None, "Nodes in it; several racks get equal numbers of them, in order.")
    units: Annotated[int, Field(ge=1, le=60)] = field(42, "Height.")
    depth: Millimetres | None = field(None, "Depth of the cabinet in mm.")
    row: PlaceName | None = field(
        None, "Row of racks in the room; rows are one behind the other, in order of the manifest."
    )
    position: Annotated[int, Field(ge=1, le=1000)] | None = field(
        None, "Place in the row, from 1; of several racks, that of the first. Default: after the rack before it."
    )
    places: dict[HostList, Annotated[int, Field(ge=1, le=60)]] = field(
        {},
        "Lowest unit of a node or switch; a host list is stacked upwards. Default: large systems from the bottom,"
        " switches from the top.",
    )
    power: Annotated[Watts, Kilo()] | None = field(None, "Maximum power of the rack.")
    circuits: tuple[Circuit, ...] = field((), "Feeds.")
    redundant_feeds: bool = field(False, "A and B feeds: half of them must carry the whole load.")
    cooling: Annotated[Watts, Kilo()] | None = field(
        None, "Heat that the room removes from the rack, besides that of a loop."
    )
    airflow: Annotated[float, Field(gt=0, le=1_000_000)] | None = field(
        None, "Cooling air in CFM that the room supplies to the rack."
    )
    weight: Annotated[float, Field(gt=0, le=100_000)] | None = field(
        None, "Load that rack and floor carry, in kg, without the rack itself."
    )


class OwnGpu(Section):
    """A GPU that the catalogue does not have."""

    nvml_name: Annotated[str, text(r"^[A-Za-z0-9 ()+_.-]+$", "use letters, digits, blanks and ( ) + _ . -", 95)] = (
        field(..., "Name as nvidia-smi -L prints it.")
    )
    memory: Bytes = field(..., "Memory.")
    power: Watts = field(..., "Maximum power draw.")
    max_clock: Annotated[int, Field(ge=100, le=5000)] | None = field(None, "Maximum SM clock in MHz that NVML lists.")
    source: OneLine = field("manifest", "Source of the figures.")


class OwnSystem(Section):
    """A system that the catalogue does not have."""

    cpu: Cpu = field(..., "CPUs.")
    arch: Architecture | None = field(None, "Processor architecture; default as in a node type.")
    memory: Bytes = field(..., "Installed memory.")
    gpu: str | None = field(None, "GPU in the catalogue or under catalogue.gpus.", max_length=63)
    gpu_count: Annotated[int, Field(ge=0, le=64)] = field(0, "GPUs.")
    gpu_numa: tuple[Annotated[int, Field(ge=0, le=255)], ...] = field((), "NUMA node of each GPU.")
    nics: tuple[Nic, ...] = field((), "Network ports.")
    power: Power = section(Power, "Power supplies and power draw.")
    rack_units: Annotated[int, Field(ge=0, le=60)] = field(1, "Height.")
    source: OneLine = field("manifest", "Source of the figures.")


class OwnSwitch(Section):
    """A switch that the catalogue does not have."""

    ports: Annotated[int, Field(ge=1, le=2048)] = field(..., "Ports.")
    rate: Rate = field(..., "Rate of a port: a name (NDR) or a bit rate (400Gb/s).")
    fabric: Literal["infiniband", "ethernet"] = field(..., "Fabric type of the switch.")
    rack_units: Annotated[int, Field(ge=0, le=60)] = field(1, "Height.")
    power: Watts | None = field(None, "Maximum power draw.")
    source: OneLine = field("manifest", "Source of the figures.")


class OwnCatalogue(Section):
    """Rows that this site adds to the catalogue."""

    gpus: dict[Name, OwnGpu] = field({}, "GPUs.")
    systems: dict[Name, OwnSystem] = field({}, "Systems.")
    switches: dict[Name, OwnSwitch] = field({}, "Switches.")
