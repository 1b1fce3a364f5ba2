"""NVLink domains that span nodes: the trays of a rack whose GPUs the same NVLink switches join."""

from __future__ import annotations

from clustergen.catalogue.systems import system
from clustergen.cluster.model import Cluster, NodeType
from clustergen.hostlist import expand


def domain_nodes(kind: NodeType) -> int:
    """How many nodes share one NVLink domain; 1 where NVLink ends inside the node."""
    found = system(kind.system) if kind.system else None
    return found.nvlink_domain_nodes if found else 1


def domains_of(cluster: Cluster, kind: NodeType) -> dict[str, list[str]]:
    """Domain → its nodes: those of a rack that the manifest names, then the others in order, as many as fit each."""
    size = domain_nodes(kind)
    if size == 1:
        return {}
    hosts = [host for group in cluster.of_type[kind.name] if group.has("slurm-compute") for host in group.hosts]
    found: dict[str, list[str]] = {}
    for rack, written in cluster.manifest.racks.items():
        inside = set(expand(written.nodes)) if written.nodes is not None else set()
        here = [host for host in hosts if host in inside]
        hosts = [host for host in hosts if host not in inside]
        if len(here) > size:  # a row of racks under one name
            found |= {f"{rack}-{number}": part for number, part in _parts(here, size)}
        elif here:
            found[rack] = here
    return found | {f"{kind.name}-{number}": part for number, part in _parts(hosts, size)}


def domains(cluster: Cluster) -> dict[str, list[str]]:
    """Those of all node types."""
    kinds = {group.type.name: group.type for group in cluster.compute}.values()
    return {name: hosts for kind in kinds for name, hosts in domains_of(cluster, kind).items()}


def _parts(hosts: list[str], size: int) -> list[tuple[int, list[str]]]:
    return [(start // size + 1, hosts[start : start + size]) for start in range(0, len(hosts), size)]
