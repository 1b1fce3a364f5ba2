"""WekaFS as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.cores import Polling
from clustergen.cluster.entry import Entry, Listening, catalogued_ports, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.weka import section as manifest
from clustergen.records import record

_USUAL_CORES = 2
_OWN_CHOICE = ("core", "num_cores")  # mount options by which the manifest itself says it


@record
class Weka(Entry):
    """A WekaFS file system. `cores`: of each client that has interfaces; no `interfaces`: those of the node type."""

    backends: tuple[str, ...]
    filesystem: str
    interfaces: tuple[str, ...]
    cores: int
    mode: str | None

    @property
    def mount_type(self) -> str:
        return "wekafs"

    @property
    def sources(self) -> tuple[str, ...]:
        return self.backends

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        return catalogued_ports(("mount", "weka"))


def resolve(name: str, sections: Mapping[str, manifest.Weka], _: Cluster) -> Weka:
    section = sections[name]
    return resolved(Weka, name, section, cores=section.cores or _USUAL_CORES)


def polling(section: manifest.Weka, node_type: NodeType, storage: str | None) -> Polling | None:
    """None in UDP mode, and where mount options of the manifest name the cores."""
    numa = tuple(node or 0 for node in numa_of(section, node_type, storage))
    if not numa or any(option.partition("=")[0] in _OWN_CHOICE for option in section.options):
        return None
    return Polling(section.backends, numa, section.cores or _USUAL_CORES)


def interfaces_of(entry: Weka | manifest.Weka, node_type: NodeType, storage: str | None) -> tuple[str, ...]:
    """The manifest's, else a node type's storage ports, else `storage`, else its first fabric port; none: UDP mode.

    `storage`: the interface in the storage network; empty: nodes have addresses there, and nothing names the interface;
    None: nodes have no addresses there.
    """
    if entry.interfaces:
        return entry.interfaces
    ports = node_type.ports
    if storage_ports := tuple(port.interface for port in ports if port.network == "storage" and port.interface):
        return storage_ports
    if storage is not None:  # the fabric's ports are rails of GPUs
        return (storage,) if storage else ()
    return tuple(port.interface for port in ports if port.network == "fabric" and port.interface)[:1]


def storage_interface(cluster: Cluster, node_type: NodeType) -> str | None:
    """The interface of a type's nodes in the storage network, as for `interfaces_of`."""
    has_addresses = any(group.storage for group in cluster.of_type[node_type.name])
    network = cluster.networks.storage
    return ((network.interface if network else None) or "") if has_addresses else None


def numa_of(entry: Weka | manifest.Weka, node_type: NodeType, storage: str | None) -> tuple[int | None, ...]:
    """NUMA node of each interface; None where nobody says. A machine with one NUMA node has no other."""
    interfaces = interfaces_of(entry, node_type, storage)
    if node_type.sockets * node_type.numa_per_socket == 1:
        return tuple(0 for _ in interfaces)
    of = {name: port.numa for port in node_type.ports for name in (port.interface, port.device)}
    return tuple(of.get(name.partition(".")[0]) for name in interfaces)


FILE_SYSTEM = FileSystem(
    kind="weka",
    client_group="weka_client",
    packages=("kernel_headers", "compiler"),
    paths=("/etc/wekaio/service.conf",),
    monitored_units=("weka-agent",),
    lab_units=("weka-*",),
    lab_files=("/etc/wekaio/*",),
)
