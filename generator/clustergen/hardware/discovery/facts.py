"""Facts of one machine. Memory is in MiB, rates in Gb/s, sizes of disks in bytes; None and empty: not known."""

from __future__ import annotations

from clustergen.records import record


@record
class Cpus:
    """The CPUs as `slurmd -C` or `lscpu` count them."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    numa_per_socket: int | None = None
    model: str = ""
    arch: str = ""
    numbering: str = ""
    """How Linux numbers them, in the manifest's words; empty: not known."""


@record
class GpuFact:
    """One GPU by its NVML index."""

    name: str
    pci: str = ""
    driver: str = ""
    numa: int | None = None
    close: tuple[str, ...] = ()
    """RDMA devices behind the same PCIe switch; none: the host bridge or the processors are between."""
    nearest: str = ""
    """The one of them that is its own: GPUs behind one switch share its ports."""
    links: tuple[str, ...] = ()
    """How it reaches each GPU of the node, itself included: X, NV18, SYS …"""
    vbios: str = ""
    inforom: str = ""
    power_limit_w: float | None = None
    ecc: str = ""
    """Enabled, Disabled, or N/A where the GPU has none."""
    mig: str = ""
    """The same of MIG."""
    lanes: int | None = None
    """PCIe lanes in use; their speed says nothing, since an idle GPU lowers it."""


@record
class PortFact:
    """One port of an RDMA adapter."""

    device: str
    gbit: int | None
    link: str
    """infiniband or ethernet; empty: not known."""
    type: str = ""
    """The adapter's type as ibstat prints it: MT4129."""
    numa: int | None = None
    firmware: str = ""
    state: str = ""
    """active, down, initializing …"""
    physical: str = ""
    """linkup, polling, disabled …"""


@record
class PciFact:
    """One network adapter, GPU or NVMe disk as lspci shows it."""

    address: str
    kind: str
    """PCI class: 0207 (InfiniBand), 0200 (Ethernet), 0302 (GPU), 0108 (NVMe)."""
    ident: str
    """Vendor and device: 15b3:1021."""
    speed: float | None = None
    """GT/s of a lane."""
    lanes: int | None = None
    most_speed: float | None = None
    most_lanes: int | None = None
    is_lost: bool = False
    """True: it no longer answers on the bus (revision ff)."""


@record
class TreeState:
    """The result of `site.yml --check` for a host."""

    files: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    failure: str = ""
    """Why the host could not be compared."""
    accounts: tuple[tuple[str, str, str], ...] = ()
    """Differences of the accounting database: subject, its value and the manifest's."""
    unlisted: tuple[str, ...] = ()
    """Entities of that database that the manifest does not list."""
    foreign: tuple[str, ...] = ()
    """Files in directories of the tree that it does not have."""
    slipped: tuple[tuple[str, str, str], ...] = ()
    """Held packages that changed: name, version and recorded version."""


@record
class DiskFact:
    """A whole disk that is fixed in the machine."""

    device: str
    size: int
    mounted: bool


@record
class BmcFact:
    """The state of a machine as its BMC shows it, in Redfish's words: power `On`, health `OK`; or why it shows
    nothing.
    """

    power: str = ""
    health: str = ""
    failure: str = ""


@record
class NodeFacts:
    """One machine."""

    name: str
    product: str = ""
    """Manufacturer and product name of the firmware."""
    cpus: Cpus | None = None
    real_memory_mib: int | None = None
    gpus: tuple[GpuFact, ...] = ()
    nameless_gpus: tuple[GpuFact, ...] = ()
    """The GPUs of the matrix of nvidia-smi-topo-m, where nothing else of nvidia-smi was recorded."""
    ports: tuple[PortFact, ...] = ()
    disks: tuple[DiskFact, ...] = ()
    addresses: tuple[tuple[str, str], ...] = ()
    """Interface and IPv4 address, the loopback left out."""
    node_name_line: str = ""
    """Output of `slurmd -C`."""
    unread: tuple[str, ...] = ()
    """Files that could not be read, with the reason."""
    pci: tuple[PciFact, ...] = ()
    interfaces: tuple[str, ...] = ()
    """Network interfaces, with those that have no address."""
    links: tuple[tuple[str, str], ...] = ()
    """Interface and its speed, such as `25000 Mb/s`, or `down`; without virtual ones and IPoIB."""
    gpu_failure: str = ""
    """The error that nvidia-smi printed in place of its GPUs."""
    gpu_devices: tuple[str, ...] | None = None
    """Device files nvidiaN; None: not known."""
    kernel: str = ""
    command_line: str = ""
    firmware: str = ""
    """Version of the BIOS."""
    bios: tuple[tuple[str, str], ...] = ()
    """Attributes of the BIOS that the catalogue knows, as the BMC shows them by Redfish."""
    adapter_settings: tuple[tuple[str, str, str], ...] = ()
    """RDMA device, setting of its adapter's firmware, and value: `IB(1)`."""
    bmc: BmcFact | None = None
    tree: TreeState | None = None
    unreachable: str = ""
    """Why no facts could be collected."""
    files: frozenset[str] = frozenset()
    """Files that are recorded, those that could not be read among them."""
    others: tuple[str, ...] = ()
    """Files beside them whose names nothing reads."""
