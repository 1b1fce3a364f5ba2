"""Which devices NCCL, UCX and MPI are to use on a node type, and whether anybody knows."""

from __future__ import annotations

from clustergen.catalogue.systems import system
from clustergen.cluster.model import Cluster, NodeType
from clustergen.render.views.fabric.rails import fabric_of, interface, rdma_device

_MOST_HCAS = 32


def several_gpu_nodes(cluster: Cluster) -> bool:
    return sum(len(group.hosts) for group in cluster.compute if group.type.gpus) > 1


def management_interface(cluster: Cluster, kind: NodeType) -> str | None:
    """As the node type's own ports say, else as the network does; the catalogue's guess is too weak to insist on."""
    written = cluster.manifest.node_types.get(kind.name)
    for nic in (written.nics or ()) if written else ():
        if nic.network == "management":
            return nic.interface or nic.device
    return cluster.manifest.networks.management.interface


def rdma_devices(cluster: Cluster, kind: NodeType) -> tuple[str, ...]:
    """RDMA devices of the fabric's ports, by rail; empty on TCP."""
    fabric = fabric_of(cluster)
    if fabric is None or fabric.type == "ethernet":
        return ()
    return tuple(name for port in kind.fabric_ports() if (name := rdma_device(port, fabric)))[:_MOST_HCAS]


def are_guessed(cluster: Cluster, kind: NodeType) -> bool:
    """Whether the devices are the catalogue's assumption: a list of names that are not there leaves NCCL with TCP."""
    written = cluster.manifest.node_types.get(kind.name)
    if kind.system is None or (written is not None and written.nics is not None):
        return False
    found = None if kind.system in cluster.manifest.catalogue.systems else system(kind.system)
    return found is not None and any("rdma" in nic.unverified for nic in found.nics_of("compute"))


def tcp_interfaces(cluster: Cluster, kind: NodeType) -> tuple[str, ...]:
    """Interfaces of a fabric that speaks TCP; empty where one of them is not known."""
    fabric = fabric_of(cluster)
    if fabric is None or fabric.type != "ethernet":
        return ()
    names = [interface(port, fabric) for port in kind.fabric_ports()]
    return tuple(name for name in names if name) if all(names) else ()
