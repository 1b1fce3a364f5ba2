"""NCCL's topology file: which GPU and which NIC share a PCIe switch, for machines that do not show it.

Made of PCI addresses of the catalogue or the manifest. What NCCL can read off the machine (CPU model, affinity, NVLink)
is left out and filled in by it. Its parser is no XML parser: no declaration, one blank between attributes.
"""

from __future__ import annotations

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.systems import System
from clustergen.cluster.model import Cluster, NodeType, Port
from clustergen.features.nccl.resolved import Nccl
from clustergen.records import record
from clustergen.render.file import Context

TOPOLOGY = "/etc/nccl-topo.xml"
_SPEEDS = {3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe", 5: "32.0 GT/s PCIe", 6: "64.0 GT/s PCIe"}
_GPU, _INFINIBAND, _ETHERNET = "0x030200", "0x020700", "0x020000"
_MOST_SWITCHES = 31  # device numbers of one PCI bus, which the made-up addresses are on


@record
class Device:
    """A GPU or NIC."""

    busid: str
    kind: str  # PCI class
    speed: str


@record
class Switch:
    """A PCIe switch with what hangs below it; its address is made up."""

    busid: str
    speed: str
    devices: tuple[Device, ...]


@record
class Numa:
    numa: int
    switches: tuple[Switch, ...]


def topology(cluster: Cluster, node_type: NodeType) -> Context | None:
    """None unless asked for, and unless address and NUMA node of every GPU and fabric port are known."""
    if not cluster.of(Nccl).writes_topology or node_type.gpus is None:
        return None
    base = cluster.catalogue.system(node_type.system) if node_type.system else None
    addresses = node_type.gpus.pci
    speed = _SPEEDS.get(node_type.gpus.model.pcie_gen or 0)
    ports = node_type.fabric_ports()
    if (
        not addresses
        or not speed
        or len(node_type.gpus.numa) != node_type.gpus.count
        or node_type.gpus.count > _MOST_SWITCHES
    ):
        return None
    if any(port.pci is None or port.numa is None for port in ports):
        return None
    nearest = _nearest_gpus(node_type, ports, base)
    below: dict[int, list[Switch]] = {}
    for number, (address, numa) in enumerate(zip(addresses, node_type.gpus.numa, strict=True)):
        devices = [Device(address, _GPU, speed)]
        devices += [_nic(cluster, port, speed) for port in ports if nearest[port.device] == number]
        below.setdefault(numa, []).append(Switch(f"ffff:ff:{number + 1:02x}.0", speed, tuple(devices)))
    return {"nodes": tuple(Numa(numa, tuple(switches)) for numa, switches in sorted(below.items()))}


def _nearest_gpus(node_type: NodeType, ports: tuple[Port, ...], base: System | None) -> dict[str, int]:
    """Port → the GPU that it shares a switch with: as the catalogue says, else the next free one of its NUMA node."""
    assert node_type.gpus is not None
    gpu_of_nic = {nic.rdma: nic.gpus[0] for nic in base.nics_of("compute") if nic.gpus} if base else {}
    free = list(range(node_type.gpus.count))
    nearest = {}
    for port in ports:
        gpu = gpu_of_nic.get(port.device)
        if gpu is None or gpu not in free:
            same = [number for number in free if node_type.gpus.numa[number] == port.numa]
            gpu = same[0] if same else node_type.gpus.numa.index(port.numa) if port.numa in node_type.gpus.numa else 0
        nearest[port.device] = gpu
        if gpu in free:
            free.remove(gpu)
    return nearest


def _nic(cluster: Cluster, port: Port, gpu_speed: str) -> Device:
    fabric = cluster.networks.fabric
    model = parts.nic(port.model)
    speed = _SPEEDS.get(model.pcie_gen or 0, gpu_speed) if model else gpu_speed
    infiniband = fabric is not None and fabric.type == "infiniband"
    return Device(port.pci or "", _INFINIBAND if infiniband else _ETHERNET, speed)
