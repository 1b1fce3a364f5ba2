"""Which devices NCCL, UCX and MPI are to use on a node type, and whether anybody knows."""

from __future__ import annotations

from clustergen.cluster.interfaces import type_ports
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.render.views.fabric.rails import interface, rdma_device

_MOST_HCAS = 32


@once_per_cluster
def several_gpu_nodes(cluster: Cluster) -> bool:
    return sum(len(group.hosts) for group in cluster.compute if group.type.gpus) > 1


def management_interface(cluster: Cluster, node_type: NodeType) -> str | None:
    """The interface of the node type's own ports, else of the network; the catalogue's guess is too weak to
    insist on.
    """
    return next(iter(type_ports(node_type, "management")), cluster.networks.management.interface)


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
