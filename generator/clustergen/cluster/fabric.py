"""The switches of the fabric, and what Slurm is to know of them."""

from __future__ import annotations

import re
from collections.abc import Container

from clustergen.cluster.model import Cluster, NodeType, Port, Switch
from clustergen.cluster.networks import Fabric
from clustergen.cluster.slurm.model import Leaf

_RDMA_NAME = re.compile(r"mlx[45]_|irdma|bnxt_re|roce|rdma|ib")
_INFINIBAND_DEVICE = re.compile(r"ib[opsxP][0-9a-f]")  # and not ib0, as the kernel calls an interface


def leaves_of(switches: tuple[Switch, ...], compute: Container[str]) -> tuple[Leaf, ...]:
    """Slurm takes a node in one leaf only, so the leaves of all rails that serve the same nodes become one.

    Only `compute` nodes count: a head node or a file server on one of the rails makes no other leaf of it.
    """
    merged: dict[frozenset[str], list[Switch]] = {}
    for switch in switches:
        if compute_nodes := frozenset(host for host in switch.nodes if host in compute):
            merged.setdefault(compute_nodes, []).append(switch)
    return tuple(
        Leaf(
            group[0].name,
            tuple(dict.fromkeys(host for host in group[0].nodes if host in nodes)),
            tuple(dict.fromkeys(top for switch in group for top in switch.uplinks)),
        )
        for nodes, group in merged.items()
    )


def are_guessed(cluster: Cluster, node_type: NodeType) -> bool:
    """True if the names of a node type's RDMA devices are the catalogue's assumption, which nobody has confirmed."""
    if node_type.system is None or "nics" in node_type.stated:
        return False
    base_system = cluster.catalogue.system(node_type.system)
    return base_system is not None and any("rdma" in nic.unverified for nic in base_system.nics_of("compute"))


def has_rdma(port: Port, *, infiniband: bool) -> bool:
    """True if a port is known by an RDMA device. rdma-core names those of InfiniBand as their interfaces: ibp24s0."""
    return port.device != port.interface or (infiniband and _INFINIBAND_DEVICE.match(port.device) is not None)


def is_rdma_name(device: str) -> bool:
    """True if a port's name is that of an RDMA device by its form, and not of a network interface."""
    return _RDMA_NAME.match(device) is not None


def rail_suffix(fabric: Fabric, rail: int) -> str:
    """The suffix of a node's name on that rail: `-ib0` or `-r0`."""
    return f"-{'ib' if fabric.type == 'infiniband' else 'r'}{rail}"


def rail_network(fabric: Fabric, rail: int) -> str | None:
    """The rail's own network, else the one that all rails share."""
    return fabric.rails[rail] if rail < len(fabric.rails) else fabric.cidr


def rail_gateway(fabric: Fabric, rail: int) -> str | None:
    return fabric.gateways[rail] if rail < len(fabric.gateways) else fabric.gateway
