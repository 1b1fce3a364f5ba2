"""Tuning of a node type: the kernel's command line, and what a oneshot unit sets at every boot."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import BootOption
from clustergen.cluster.features.tuning import Tunings
from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record

UNIT = "clustergen-tuning.service"
IRQBALANCE = "irqbalance.service"
_DEBIAN = "debian"


@record
class KernelOptions:
    """Options of the kernel's command line, in order."""

    options: tuple[BootOption, ...]


def kernel_options(cluster: Cluster, node_type: NodeType) -> KernelOptions | None:
    options = tuple(option for option in cluster.needs(BootOption) if option.node_type == node_type.name)
    return KernelOptions(options) if options else None


def grub(cluster: Cluster, node_type: NodeType) -> KernelOptions | None:
    return kernel_options(cluster, node_type) if node_type.os.fact("family") == _DEBIAN else None


def grubby(cluster: Cluster, node_type: NodeType) -> KernelOptions | None:
    return kernel_options(cluster, node_type) if node_type.os.fact("family") != _DEBIAN else None


@record
class Script:
    """The settings of the script; None or empty: left unchanged."""

    governor: str | None
    idle_latency_us: int | None
    transparent_hugepages: str | None
    ports: tuple[str, ...]  # RDMA devices, or interfaces of ports without one
    interrupts: bool
    rings: int | str | None
    channels: int | None
    read_request: int | None  # bits 14 to 12 of the device control register: 128 bytes to the power of it
    relaxed_ordering: int | None  # 1 or 0: bit 4 of that register

    @property
    def uses_ethtool(self) -> bool:
        return bool(self.rings or self.channels)

    @property
    def uses_setpci(self) -> bool:
        return self.read_request is not None or self.relaxed_ordering is not None


def script(cluster: Cluster, node_type: NodeType) -> Script | None:
    tuning = cluster.of(Tunings).of(node_type)
    of_ports = (tuning.interrupts, tuning.rings, tuning.channels, tuning.max_read_request, tuning.relaxed_ordering)
    ports = node_type.data_ports() if any(value is not None for value in of_ports) else ()
    of_cpus = (tuning.governor, tuning.idle_latency_us, tuning.transparent_hugepages)
    if not ports and all(value is None for value in of_cpus):
        return None
    return Script(
        governor=tuning.governor,
        idle_latency_us=tuning.idle_latency_us,
        transparent_hugepages=tuning.transparent_hugepages,
        ports=tuple(port.device for port in ports),
        interrupts=bool(ports) and tuning.interrupts is not None,
        rings=tuning.rings if ports else None,
        channels=tuning.channels if ports else None,
        read_request=(tuning.max_read_request // 128).bit_length() - 1 if ports and tuning.max_read_request else None,
        relaxed_ordering=int(tuning.relaxed_ordering) if ports and tuning.relaxed_ordering is not None else None,
    )


@record
class Irqbalance:
    """Drop-in of irqbalance.service."""

    arguments: str


def irqbalance(cluster: Cluster, node_type: NodeType) -> Irqbalance | None:
    settings = script(cluster, node_type)
    drivers = sorted({port.driver for port in node_type.data_ports() if port.driver})
    if settings is None or not settings.interrupts or not drivers:
        return None
    return Irqbalance(" ".join(f"--banmod={driver}" for driver in drivers))


def tuning_packages(cluster: Cluster, node_type: NodeType) -> Iterator[str]:
    """Purposes of packages that the settings of a node type need."""
    if settings := script(cluster, node_type):
        if settings.uses_ethtool:
            yield "ethtool"
        if settings.uses_setpci:
            yield "pci"
    if kernel_options(cluster, node_type):
        yield "boot_loader"
