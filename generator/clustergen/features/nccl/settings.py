"""nccl.conf by node type: what the fabric asks for and the manifest adds, and nothing that NCCL finds out by itself."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.nccl import FINDS_GID, nccl_param
from clustergen.catalogue.versions import NcclVersion
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.interfaces import management_interface
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.networks import Fabric, Roce, SubnetManager
from clustergen.cluster.rails import rails_are_joined, rdma_device, rdma_devices, tcp_interfaces
from clustergen.features.nccl.resolved import Nccl, Sharp, Variable
from clustergen.features.nccl.topology import TOPOLOGY, topology
from clustergen.records import record
from clustergen.render.file import Context
from clustergen.render.formats import Safe, unquoted

_FAST_TCP = 100  # Gb/s
# Made by hypervisors and container engines, or leading to the BMC: nothing that another node can reach.
_NO_NETWORK = ("lo", "docker", "podman", "virbr", "cni", "veth", "br-", "usb", "bmc", "idrac")


@record
class Setting:
    """One variable with its reason; a remark has neither name nor value."""

    why: str
    name: str = ""
    value: str = ""


def nccl_conf(cluster: Cluster, node_type: NodeType) -> Context | None:
    """None where there is nothing to say, as on a single machine."""
    nccl = cluster.of(Nccl)
    version, env = nccl.version, dict(nccl.env)
    settings = []
    for setting in _ours(cluster, node_type, version):
        if setting.name and not _is_known(setting.name, version):
            continue
        stated = env.pop(setting.name, None) if setting.name else None
        settings.append(setting if stated is None else _stated(setting.name, stated))
    settings += [_stated(name, stated) for name, stated in env.items()]
    return {"settings": tuple(settings), "version": str(version)} if settings else None


def _is_known(name: str, version: NcclVersion) -> bool:
    param = nccl_param(name)
    return param is not None and param.known_in(version)


def _stated(name: str, variable: Variable) -> Setting:
    return Setting(variable.reason or "Stated in the manifest.", name, unquoted(name, variable.value))


def _ours(cluster: Cluster, node_type: NodeType, version: NcclVersion) -> Iterator[Setting]:
    if _several_gpu_nodes(cluster):
        yield from _network(cluster, node_type, version)
    if topology(cluster, node_type):
        yield Setting("The nodes' PCIe tree, which a virtual machine does not show.", "NCCL_TOPO_FILE", Safe(TOPOLOGY))
    if debug := cluster.of(Nccl).debug:
        yield Setting("What NCCL prints on standard output.", "NCCL_DEBUG", Safe(debug))


@once_per_cluster
def _several_gpu_nodes(cluster: Cluster) -> bool:
    return sum(len(group.hosts) for group in cluster.compute if group.type.gpus) > 1


def _network(cluster: Cluster, node_type: NodeType, version: NcclVersion) -> Iterator[Setting]:
    fabric = cluster.networks.fabric
    if fabric is None or not node_type.fabric_ports():
        yield _bootstrap(cluster, node_type)
    elif fabric.type == "ethernet":
        yield from _tcp(cluster, node_type, fabric)
    else:
        yield _bootstrap(cluster, node_type)
        yield _hcas(cluster, node_type)
        yield from _infiniband(cluster, fabric) if fabric.type == "infiniband" else _roce(cluster, version)
        yield from _cross_nic(cluster, node_type, fabric)


def _bootstrap(cluster: Cluster, node_type: NodeType) -> Setting:
    name = "NCCL_SOCKET_IFNAME"
    if interface := management_interface(cluster, node_type):
        return Setting(
            "Bootstrap connections use this interface of the management network only.",
            name,
            Safe(f"={interface}"),
        )
    return Setting(
        "Bootstrap connections use any network but these. Set networks.management.interface to name one.",
        name,
        Safe("^" + ",".join(_NO_NETWORK)),
    )


def _hcas(cluster: Cluster, node_type: NodeType) -> Setting:
    devices = rdma_devices(cluster, node_type)
    if not devices or are_guessed(cluster, node_type):
        return Setting(
            "The names of the fabric's RDMA devices are not known, so NCCL uses all that are up. "
            f"node_types.{node_type.name}.nics in the manifest names them (ibdev2netdev, or rdma link, on a node)."
        )
    return Setting(
        "The fabric's ports by their exact names: without a leading sign, mlx5_1 would also match mlx5_10.",
        "NCCL_IB_HCA",
        Safe("=" + ",".join(f"{device}:1" for device in devices)),
    )


def _infiniband(cluster: Cluster, fabric: Fabric) -> Iterator[Setting]:
    if fabric.service_level is not None:
        yield Setting("Service level of NCCL's traffic.", "NCCL_IB_SL", Safe(str(fabric.service_level)))
    manager = cluster.of(SubnetManager)
    if manager.pkey and manager.where != "node" and int(manager.pkey, 16) & 0x7FFF != 0x7FFF:
        yield Setting(
            f"Jobs use partition {manager.pkey}. NCCL_IB_PKEY takes its place in a port's table, 0 unless stated in "
            "nccl.env; /sys/class/infiniband/DEVICE/ports/1/pkeys shows the table."
        )
    if cluster.has(Sharp):
        yield Setting(
            "Reductions in the switches. Needs the plugin of HPC-X and the aggregation manager.",
            "NCCL_COLLNET_ENABLE",
            Safe("1"),
        )


def _roce(cluster: Cluster, version: NcclVersion) -> Iterator[Setting]:
    roce = cluster.of(Roce)
    if roce.trust == "pcp":
        yield Setting("Priority of RDMA packets in their VLAN tag.", "NCCL_IB_SL", Safe(str(roce.priority)))
    else:
        marked = ", and that ECN may mark it" if roce.ecn else ""
        yield Setting(
            f"Every packet carries DSCP {roce.dscp}{marked}: the switches know RDMA by it.",
            "NCCL_IB_TC",
            Safe(str(roce.traffic_class)),
        )
    if any(":" in rail[0] for group in cluster.groups for rail in group.fabric):
        yield Setting("The fabric's addresses are IPv6.", "NCCL_IB_ADDR_FAMILY", Safe("AF_INET6"))
    gid = cluster.of(Nccl).gid_index
    if gid is not None and version < FINDS_GID:
        yield Setting("RoCE v2 with IPv4, the same on all nodes (show_gids).", "NCCL_IB_GID_INDEX", Safe(str(gid)))


def _cross_nic(cluster: Cluster, node_type: NodeType, fabric: Fabric) -> Iterator[Setting]:
    """Said where the wiring leaves one answer; elsewhere NCCL weighs it up."""
    if len(node_type.fabric_ports()) < 2 or not cluster.switches:
        return
    if fabric.plan and fabric.plan.planes > 1:
        yield Setting("Ports of one plane do not reach those of another.", "NCCL_CROSS_NIC", Safe("0"))
    elif fabric.has_separate_rails or (fabric.layout == "rail" and not rails_are_joined(cluster)):
        how = "not routed" if fabric.has_separate_rails else "not connected to each other"
        yield Setting(f"The rails are {how}: stay on one.", "NCCL_CROSS_NIC", Safe("0"))
    elif fabric.layout == "single" and sum(bool(switch.nodes) for switch in cluster.switches) == 1:
        yield Setting("All ports connect to one switch: any port reaches any other.", "NCCL_CROSS_NIC", Safe("1"))


def _tcp(cluster: Cluster, node_type: NodeType, fabric: Fabric) -> Iterator[Setting]:
    interfaces = tcp_interfaces(cluster, node_type)
    if interfaces:
        yield Setting(
            "Data goes by TCP over the fabric's interfaces, by these and no others.",
            "NCCL_SOCKET_IFNAME",
            Safe("=" + ",".join(interfaces)),
        )
    else:
        yield _bootstrap(cluster, node_type)
    if any(rdma_device(port, fabric) for port in node_type.fabric_ports()):
        yield Setting("The cards can do RDMA, this network is not made for it.", "NCCL_NET", Safe("Socket"))
    rate = fabric.rate_gbit
    if rate and rate >= _FAST_TCP:
        yield Setting("One connection does not fill the link: four threads …", "NCCL_SOCKET_NTHREADS", Safe("4"))
        yield Setting("… with four connections each.", "NCCL_NSOCKS_PERTHREAD", Safe("4"))
