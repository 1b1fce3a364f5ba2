"""Ports of node types: models, names, NUMA nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.catalogue_view import catalogue_hint
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.hardware import Nic, NodeType, OwnCatalogue


def nics_of_types(_: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    for name, kind in section.items():
        yield from _nics(("node_types", name, "nics"), kind.nics or ())


def nics_of_systems(_: Cluster, section: OwnCatalogue) -> Iterator[Finding]:
    for name, system in section.systems.items():
        yield from _nics(("catalogue", "systems", name, "nics"), system.nics)


def _nics(path: ManifestPath, ports: tuple[Nic, ...]) -> Iterator[Finding]:
    from clustergen.catalogue import hardware

    names = [name for row in hardware.nics().values() for name in (row.id, *row.aliases)] if ports else []
    seen: dict[str, int] = {}
    interfaces: set[str] = set()
    for index, port in enumerate(ports):
        if port.model and hardware.nic(port.model) is None:
            yield Finding(
                "nic-unknown",
                (*path, index, "model"),
                f"NIC '{port.model}' is not in the catalogue",
                catalogue_hint("nics", did_you_mean(port.model, names), "remove model if your NIC is not listed"),
            )
        if port.device in seen:
            yield Finding(
                "nic-twice",
                (*path, index, "device"),
                f"port '{port.device}' is listed twice in this node type",
                "write the device of each port, as `rdma link` shows them",
                first=(*path, seen[port.device], "device"),
            )
        seen.setdefault(port.device, index)
        if port.interface in interfaces:
            yield Finding(
                "nic-twice",
                (*path, index, "interface"),
                f"interface '{port.interface}' is listed twice in this node type",
                "write the interface of each port, as `ip link` shows them",
            )
        interfaces |= {port.interface} if port.interface else set()


def gpu_numa_range(cluster: Cluster) -> Iterator[Finding]:
    """NUMA nodes of ports are counted over all sockets."""
    for node_type in cluster.node_types:
        last = node_type.sockets * node_type.numa_per_socket - 1
        for index, port in enumerate(node_type.ports if "nics" in node_type.stated else ()):
            if port.numa is not None and port.numa > last:
                yield Finding(
                    "gpu-numa-range",
                    ("node_types", node_type.name, "nics", index, "numa"),
                    f"NUMA node {port.numa} does not exist; the last one is {last}",
                    "set cpu.numa_per_socket if a socket has more NUMA nodes",
                )
