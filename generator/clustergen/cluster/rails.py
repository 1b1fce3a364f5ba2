"""Rails of the fabric: how many, whether they are joined, and the names of their ports."""

from __future__ import annotations

from clustergen.cluster.fabric import has_rdma, is_rdma_name
from clustergen.cluster.model import Cluster, NodeType, Port
from clustergen.cluster.networks import Fabric

_MOST_HCAS = 32  # that NCCL opens


def rails_are_joined(cluster: Cluster) -> bool:
    """True if one rail can be reached from another: leaves have uplinks, or the rails' networks have routers."""
    fabric = cluster.networks.fabric
    if fabric is None or (fabric.rails and not (fabric.gateways or fabric.gateway)):
        return False
    return not cluster.switches or any(switch.uplinks for switch in cluster.switches)


def has_ports(cluster: Cluster) -> bool:
    return any(node_type.fabric_ports() for node_type in cluster.node_types)


def addressed_rails(cluster: Cluster, node_type: NodeType) -> int:
    """How many rails the nodes of a type have addresses on."""
    return max((len(group.fabric) for group in cluster.of_type[node_type.name]), default=0)


def rdma_device(port: Port, fabric: Fabric) -> str | None:
    """None for a port that is known by its interface only, as ports that speak TCP may be."""
    has_device = has_rdma(port, infiniband=fabric.type == "infiniband")
    if not has_device or (fabric.type == "ethernet" and not is_rdma_name(port.device)):
        return None
    return port.device


def interface(port: Port, fabric: Fabric) -> str | None:
    """None where only the RDMA device is known; the interface is then looked up on the node."""
    return port.interface or (port.device if rdma_device(port, fabric) is None else None)


def rdma_devices(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """RDMA devices of the fabric's ports, by rail; empty on TCP."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return ()
    return tuple(name for port in node_type.fabric_ports() if (name := rdma_device(port, fabric)))[:_MOST_HCAS]


def tcp_interfaces(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """Interfaces of a fabric that speaks TCP; empty where one of them is not known."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type != "ethernet":
        return ()
    names = [interface(port, fabric) for port in node_type.fabric_ports()]
    return tuple(name for name in names if name) if all(names) else ()
