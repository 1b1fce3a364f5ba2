"""The performance of a healthy machine: floors of acceptance, from the manifest, the catalogue and published
measurements.

Rates of links are bits, of memory and storage bytes; a floor is in the unit that its tool prints. Floors are rounded
down to four significant digits and never to 0.
"""

from __future__ import annotations

from clustergen.catalogue.acceptance import Share, bus_bandwidths, shares
from clustergen.cluster.entry import Entry
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType, Port
from clustergen.diagnostics.words import counted
from clustergen.records import record
from clustergen.units import BitRate, ByteRate

_DIGITS = 4
_HOST_PCIE = "PCIe gen5 x16 between adapter and host memory"


@record
class Floor:
    """A bound of one reading: `relation` is least, most or equal; `why` is the formula with its figures."""

    metric: str
    value: float
    unit: str
    relation: str
    why: str
    source: str


def rounded(value: float) -> float:
    """Four significant digits: a floor of 1GbE is 0.1125 GB/s, and not 0."""
    return float(f"{value:.{_DIGITS}g}")


def at_least(metric: str, share: Share, rate: ByteRate, of: str) -> Floor:
    """A share of a rate in GB/s."""
    why = f"{share.share:.0%} of {of}, {rate.gb:.4g} GB/s"
    return Floor(metric, rounded(share.share * rate.gb), "GB/s", "least", why=why, source=share.source)


def port_rate(cluster: Cluster, port: Port) -> BitRate | None:
    """The slower of the port and its network; None where neither is known."""
    network = cluster.networks.get(port.network)
    rates = [rate for rate in (network.rate_gbit if network else None, port.max_gbit) if rate]
    return BitRate(int(min(rates) * 10**9)) if rates else None


def fabric_rate(cluster: Cluster, node_type: NodeType) -> BitRate | None:
    """All fabric ports of a node together; None where the rate of one is not known."""
    rates = [port_rate(cluster, port) for port in node_type.fabric_ports()]
    if not rates or None in rates:
        return None
    return BitRate(sum(rate.value for rate in rates if rate))


def tcp_rate() -> BitRate:
    """The most that one TCP connection carries, however fast the port is."""
    share = shares()["tcp-connection"]
    return BitRate(int(share.share * (share.published or 0) * 10**9))


def message_floor(cluster: Cluster, node_type: NodeType, *, is_rdma: bool) -> Floor | None:
    """Bandwidth of MPI between two nodes: of one port, without RDMA of one TCP connection at most."""
    rate = message_rate(cluster, node_type)
    if rate is None:
        return None
    share = shares()["mpi-pair"]
    if is_rdma or rate <= tcp_rate():
        slot, host = _host_pcie()
        if share.share * rate.to_bytes().value > slot.share * host.value:
            return at_least("bandwidth", slot, host, _HOST_PCIE)
        return at_least("bandwidth", share, rate.to_bytes(), "one port")
    return at_least("bandwidth", share, tcp_rate().to_bytes(), "one TCP connection")


def message_rate(cluster: Cluster, node_type: NodeType) -> BitRate | None:
    """One port between two nodes: of the fabric, else of the management network."""
    ports = node_type.fabric_ports() or tuple(port for port in node_type.ports if port.network == "management")
    rates = [rate for port in ports if (rate := port_rate(cluster, port))]
    if rates:
        return min(rates)
    named = cluster.networks.management.rate_gbit if not node_type.fabric_ports() else None
    return BitRate(named * 10**9) if named else None


def latency_ceiling() -> Floor | None:
    """The longest latency of a small message over InfiniBand; other networks have no published one."""
    share = shares()["mpi-latency"]
    if not share.published:
        return None
    why = f"{share.share:.0%} of the published {share.published:g} {share.unit}"
    return Floor("latency", rounded(share.share * share.published), share.unit, "most", why=why, source=share.source)


def nccl_node_floor(gpus: GpuSet) -> Floor | None:
    """A ring inside a node: of what was measured on this GPU, else of NVLink; None without NVLink."""
    if gpus.nvlink == "none" or not gpus.model.nvlink_gb_s or gpus.count < 2:
        return None
    measured = [
        row.busbw_gb_s
        for row in bus_bandwidths()
        if (row.collective, row.gpu, row.nodes, row.gpus) == ("all_reduce", gpus.model.id, 1, gpus.count)
        and row.algorithm == "ring"
        and "busbw_gb_s" not in row.unverified
    ]
    if measured and gpus.nvlink == "nvswitch":
        return at_least("busbw", shares()["nccl-node"], ByteRate(measured[0] * 10**9), "the measured ring")
    if gpus.nvlink != "nvswitch":
        return None  # a bridge joins pairs, and a ring of all goes over PCIe
    return at_least("busbw", shares()["nvlink-ring"], _nvlink(gpus), "one direction of NVLink")


def _nvlink(gpus: GpuSet) -> ByteRate:
    """One direction; the catalogue counts both."""
    return ByteRate(int(gpus.model.nvlink_gb_s / 2 * 10**9))


def nccl_nodes_floor(cluster: Cluster, node_type: NodeType, share: Share) -> Floor | None:
    """A ring over several nodes: of the node's fabric ports, or of the ring inside a node where that is slower."""
    wire = fabric_rate(cluster, node_type)
    gpus = node_type.gpus
    if wire is None or gpus is None:
        return None
    count = len(node_type.fabric_ports())
    floor = at_least("busbw", share, wire.to_bytes(), f"{counted(count, 'fabric port')}")
    limits = [inside for inside in (nccl_node_floor(gpus), _ring_over_pcie(gpus)) if inside]
    return min([floor, *limits], key=lambda each: each.value)


def _ring_over_pcie(gpus: GpuSet) -> Floor | None:
    """A ring of several GPUs enters and leaves each by its PCIe link, unless NVLink joins all of them."""
    wire = shares().get(f"pcie-gen{gpus.model.pcie_gen}")
    is_board = not gpus.model.form.startswith(("sxm", "superchip"))
    if gpus.count < 2 or not is_board or gpus.nvlink not in ("none", "bridge") or wire is None or not wire.possible:
        return None
    of = f"PCIe gen{gpus.model.pcie_gen} x16 of each GPU"
    return at_least("busbw", shares()["nccl-pcie"], ByteRate(int(wire.possible * 10**9)), of)


def nccl_domain_floor(gpus: GpuSet) -> Floor:
    """A ring over the nodes of one NVLink domain."""
    return at_least("busbw", shares()["nccl-domain"], _nvlink(gpus), "one direction of NVLink")


def write_floor(rate: BitRate) -> Floor:
    """RDMA writes in Gb/s over a port, or what PCIe carries between an adapter and the memory of its host."""
    share, (slot, host) = shares()["fabric-write"], _host_pcie()
    if share.share * rate.value <= slot.share * host.value * 8:
        value, why, source = share.share * rate.gbit, f"{share.share:.0%} of {rate}", share.source
    else:
        value, source = slot.share * host.gb * 8, slot.source
        why = f"{slot.share:.0%} of {_HOST_PCIE}, {host.gb:g} GB/s"
    return Floor("bandwidth", rounded(value), "Gb/s", "least", why=why, source=source)


def _host_pcie() -> tuple[Share, ByteRate]:
    """The fastest slot of today's hosts, and the share of it that is reached."""
    slot = shares()["pcie-gen5"]
    return slot, ByteRate(int((slot.possible or 0) * 10**9))


def gpu_copy_floors(gpus: GpuSet) -> tuple[Floor, ...]:
    """nvbandwidth: host to device by PCIe generation or NVLink-C2C, device to device where NVLink joins all."""
    floors = []
    is_superchip = gpus.model.form == "superchip"
    share = shares().get(f"c2c-{gpus.model.architecture}" if is_superchip else f"pcie-gen{gpus.model.pcie_gen}")
    if share and share.possible and is_superchip:
        link = ByteRate(int(share.possible * 10**9))
        floors.append(at_least("host_to_device", share, link, "one direction of NVLink-C2C"))
    elif share and share.possible:
        wire = ByteRate(int(share.possible * 10**9))
        of = f"PCIe gen{gpus.model.pcie_gen} x16"
        floors += [at_least(metric, share, wire, of) for metric in ("host_to_device", "device_to_host")]
    if gpus.count > 1 and gpus.nvlink == "nvswitch":
        floors.append(at_least("device_to_device", shares()["gpu-peer"], _nvlink(gpus), "one direction of NVLink"))
    return tuple(floors)


def gpu_floors(gpus: GpuSet) -> tuple[Floor, ...]:
    """Floors for the values that nvidia-smi reports of each GPU: count, power limit, highest clock and PCIe width."""
    model = gpus.model
    floors = [Floor("gpus", gpus.count, "GPUs", "equal", why="gpus.count of the node type", source="manifest")]
    if gpus.power_limit_w:
        floors.append(Floor("power_limit", gpus.power_limit_w, "W", "equal", why="gpus.power_limit", source="manifest"))
    elif (watts := model.power_default_w or model.tdp_w) and "tdp_w" not in model.unverified:
        floors.append(
            Floor("power_limit", watts, "W", "least", why=f"limit of {model.id} as shipped", source=_sources(gpus))
        )
    if model.max_sm_mhz and "max_sm_mhz" not in model.unverified:
        floors.append(
            Floor("clock", model.max_sm_mhz, "MHz", "least", why=f"highest clock of {model.id}", source=_sources(gpus))
        )
    floors.append(
        Floor("throttled", 0, "GPUs", "most", why="no slowdown by heat or by the power supply", source="NVML")
    )
    floors.append(
        Floor("row_pending", 0, "GPUs", "most", why="no memory row waits for a reset to be remapped", source="NVML")
    )
    if model.form.startswith("sxm"):  # the slot of a PCIe board may be slower than the board
        floors.append(Floor("pcie_width", 16, "lanes", "least", why="SXM boards use x16", source="PCIe"))
        if model.pcie_gen and "pcie_gen" not in model.unverified:
            why = f"PCIe generation of {model.id}"
            floors.append(Floor("pcie_gen", model.pcie_gen, "generation", "least", why=why, source=_sources(gpus)))
    return tuple(floors)


def _sources(gpus: GpuSet) -> str:
    return " ".join(gpus.model.source) or "manifest"


def storage_floor(cluster: Cluster, node_type: NodeType, entry: Entry, nodes: int, metric: str) -> Floor | None:
    """Write bandwidth of a mount that states one: of the file system, or of what the nodes' ports or the mount's TCP
    connections carry together.
    """
    if entry.bandwidth is None:
        return None
    share = shares()["storage"]
    limit, of = entry.bandwidth, "the bandwidth that the manifest states"
    ports = [port for port in node_type.ports if port.network == "storage"] or list(node_type.fabric_ports())[:1]
    rates = [rate for port in ports if (rate := port_rate(cluster, port))]
    if rates and entry.is_shared:
        wire = ByteRate(nodes * sum(rate.to_bytes().value for rate in rates))
        if wire < limit:
            limit, of = wire, f"the ports of {counted(nodes, 'node')}"
    if connections := entry.tcp_connections:
        carried = ByteRate(nodes * connections * tcp_rate().to_bytes().value)
        if carried < limit:
            limit, of = carried, f"{counted(nodes * connections, 'TCP connection')}"
    return at_least(metric, share, limit, of)
