"""WEKA: the cores on which its client polls."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding
from clustergen.features.storage.weka.resolved import Weka, interfaces_of, numa_of, storage_interface


def weka_cores(cluster: Cluster) -> Iterator[Finding]:
    """Each client's cores have to exist, and slurmd needs another one."""
    for node_type in cluster.node_types:
        storage = storage_interface(cluster, node_type)
        for name, chosen in node_type.polling.items():
            entry = cluster.storage[name]
            assert isinstance(entry, Weka), "no other client polls"
            if len(chosen) < entry.cores:
                numa = sorted({node or 0 for node in numa_of(entry, node_type, storage)})
                yield Finding(
                    "weka-cores",
                    ("storage", name, "cores"),
                    f"the WEKA client needs {entry.cores} cores of '{node_type.name}' on NUMA node"
                    f" {' and '.join(map(str, numa))}, which has {len(chosen)} besides core 0",
                    f"write cores: {len(chosen)}" if chosen else "write interfaces: [] for UDP",
                )
        if node_type.polling and node_type.reserved_cores == len(set().union(*node_type.polling.values())):
            yield Finding(
                "weka-cores",
                ("node_types", node_type.name, "reserved", "cores"),
                f"slurmd of '{node_type.name}' would run only on the cores on which the WEKA client polls",
                "reserve 1 core for the system, or remove reserved.cores",
            )


def weka_numa_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Cores on another NUMA node than the interface work, at a lower rate."""
    for name, entry in cluster.entries(Weka).items():
        for node_type in cluster.node_types:
            if name not in node_type.polling:
                continue
            storage = storage_interface(cluster, node_type)
            interfaces, numa = interfaces_of(entry, node_type, storage), numa_of(entry, node_type, storage)
            unknown = [port for port, node in zip(interfaces, numa, strict=True) if node is None]
            if unknown:
                yield Finding(
                    "weka-numa-unknown",
                    ("storage", name),
                    f"the NUMA node of {unknown[0]} on '{node_type.name}' is not specified, so the WEKA client uses"
                    " cores of node 0",
                    f"list the port with its numa in node_types.{node_type.name}.nics",
                    key=True,
                )


def weka_interface_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Nodes with addresses in the storage network, and nothing that names their interface there."""
    for name, entry in cluster.entries(Weka).items():
        types = {group.type.name: group.type for group in clients_of(cluster, name) if group.type.ports}
        for node_type in types.values():
            storage = storage_interface(cluster, node_type)
            if storage == "" and not interfaces_of(entry, node_type, storage):
                yield Finding(
                    "weka-interface-unknown",
                    ("storage", name),
                    f"nodes of type '{node_type.name}' have storage addresses, but nothing names their interface there,"
                    " so the WEKA client uses UDP",
                    "set networks.storage.interface, or list the port in"
                    f" node_types.{node_type.name}.nics with network: storage",
                    key=True,
                )


def reached(_: Cluster, __: NodeGroup, entry: Weka) -> list[str]:
    return list(entry.backends)
