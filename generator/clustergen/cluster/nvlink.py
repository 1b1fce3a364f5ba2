"""NVLink domains that span nodes: the trays of a rack whose GPUs the same NVLink switches join."""

from __future__ import annotations

from clustergen.catalogue.slurm_values import plugin
from clustergen.catalogue.systems import system
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.builds import offers
from clustergen.cluster.slurm.model import Slurm

IMEX = "switch/nvidia_imex"


def domain_nodes(node_type: NodeType) -> int:
    """How many nodes share one NVLink domain; 1 where NVLink ends inside the node."""
    base_system = system(node_type.system) if node_type.system else None
    return base_system.nvlink_domain_nodes if base_system else 1


def domains_of(cluster: Cluster, node_type: NodeType) -> dict[str, list[str]]:
    """Domain → its nodes: those of a rack that the manifest names, then the others in order, as many as fit each.

    Node types of one system share domains: nodes of a rack may differ in other things.
    """
    size = domain_nodes(node_type)
    if size == 1:
        return {}
    groups = [group for group in cluster.compute if group.type.system == node_type.system]
    hosts = [host for group in groups for host in group.hosts]
    first = groups[0].type.name if groups else node_type.name
    hosts_of_domain: dict[str, list[str]] = {}
    for rack in cluster.racks:
        inside = set(rack.hosts)
        members = [host for host in hosts if host in inside]
        hosts = [host for host in hosts if host not in inside]
        if len(members) > size:  # a row of racks under one name
            hosts_of_domain |= {f"{rack.name}-{number}": part for number, part in _parts(members, size)}
        elif members:
            hosts_of_domain[rack.name] = members
    return hosts_of_domain | {f"{first}-{number}": part for number, part in _parts(hosts, size)}


def domains(cluster: Cluster) -> dict[str, list[str]]:
    """The NVLink domains of all node types: name → hosts."""
    kinds = {group.type.name: group.type for group in cluster.compute}.values()
    return {name: hosts for kind in kinds for name, hosts in domains_of(cluster, kind).items()}


def switches_imex(cluster: Cluster) -> bool:
    """True if slurm.conf names the plugin for channels by default."""
    if not cluster.has(Slurm):
        return False
    kinds = {group.type.name: group.type for group in cluster.compute}.values()
    spanning = [kind for kind in kinds if domain_nodes(kind) > 1]
    row = plugin("SwitchType", IMEX) if spanning and not cluster.slurm.bare else None
    exists = row is not None and row.state(cluster.slurm.release) == "known"
    return exists and all(offers(cluster, kind.os, "slurm_nvidia_imex") for kind in spanning)


def _parts(hosts: list[str], size: int) -> list[tuple[int, list[str]]]:
    return [(start // size + 1, hosts[start : start + size]) for start in range(0, len(hosts), size)]
