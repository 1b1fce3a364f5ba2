"""What is known of one machine. Memory is in MiB, rates in Gb/s, sizes of disks in bytes; None and empty: not known."""

from __future__ import annotations

from clustergen.records import record


@record
class Cpus:
    """As `slurmd -C` or `lscpu` count them."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    numa_per_socket: int | None = None
    model: str = ""
    arch: str = ""


@record
class GpuFact:
    """One GPU by its NVML index."""

    name: str
    pci: str = ""
    driver: str = ""
    numa: int | None = None
    nearest: str = ""
    """RDMA device of the network port that is closest to it."""


@record
class PortFact:
    """One port of an RDMA adapter."""

    device: str
    gbit: int | None
    link: str
    """infiniband or ethernet."""
    type: str = ""
    """The adapter's type as ibstat prints it: MT4129."""
    interface: str = ""


@record
class DiskFact:
    """A whole disk that is fixed in the machine."""

    device: str
    size: int
    mounted: bool


@record
class NodeFacts:
    """One machine."""

    name: str
    product: str = ""
    """Manufacturer and product name of the firmware."""
    cpus: Cpus | None = None
    real_memory_mib: int | None = None
    gpus: tuple[GpuFact, ...] = ()
    ports: tuple[PortFact, ...] = ()
    disks: tuple[DiskFact, ...] = ()
    addresses: tuple[tuple[str, str], ...] = ()
    """Interface and IPv4 address, the loopback left out."""
    node_name_line: str = ""
    """What `slurmd -C` printed."""
    unread: tuple[str, ...] = ()
    """Files that could not be read, with the reason."""
