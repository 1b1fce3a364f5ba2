"""What storage entries mean on the nodes: names, servers and the interfaces that LNet uses."""

from __future__ import annotations

from collections.abc import Iterable

from clustergen.cluster.fabric import has_rdma
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.manifest.storage import Lustre, Nfs
from clustergen.records import record


@record
class LnetNet:
    """One LNet network of a node; no interfaces: the manifest does not say which ones it has there."""

    name: str  # o2ib, tcp, o2ib1 …
    interfaces: tuple[str, ...]


def serves(cluster: Cluster, group: NodeGroup, entry: object) -> bool:
    """Whether a node of the group is the NFS server of the entry, by name, full name or address."""
    if not isinstance(entry, Nfs):
        return False
    networks = cluster.manifest.networks
    names = {entry.server}
    for network in (networks.management, networks.storage):
        if network is not None and network.domain:
            names.add(entry.server.removesuffix("." + network.domain))
    known = (group.hosts, group.addresses, group.storage, *group.fabric)
    return any(not names.isdisjoint(values) for values in known)


def lustre_fsname(name: str, entry: Lustre) -> str:
    """The file system's name on its servers: the manifest's, else the entry's."""
    return entry.fsname or name


def lnet_nets(cluster: Cluster, kind: NodeType, entries: Iterable[Lustre]) -> tuple[LnetNet, ...]:
    """The LNet networks that nodes of a type need to reach the servers of these file systems, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        for written in entry.lnet:
            found.setdefault(_canonical(written.name), written.interfaces)
        if entry.lnet:
            continue
        reachable = {net: _interfaces(cluster, kind, net) for net in _server_nets(entry)}
        # A server with NIDs on several networks is reached over those that this node has; one of them is enough.
        for net, interfaces in reachable.items():
            if interfaces or not any(reachable.values()):
                found.setdefault(net, interfaces)
    return tuple(LnetNet(name, interfaces) for name, interfaces in found.items())


def _canonical(net: str) -> str:
    """`o2ib0` and `o2ib` are one network."""
    return net[:-1] if net in ("o2ib0", "tcp0") else net


def _server_nets(entry: Lustre) -> list[str]:
    return list(dict.fromkeys(_canonical(nid.rpartition("@")[2]) for group in entry.mgs for nid in group.split(",")))


def _interfaces(cluster: Cluster, kind: NodeType, net: str) -> tuple[str, ...]:
    """Interfaces for a network: the storage network's, else the fabric's (RDMA) or management's (TCP)."""
    networks = cluster.manifest.networks
    rdma = net.startswith("o2ib")
    places = ("storage", "fabric") if rdma else ("storage", "management")
    for place in places:
        network = getattr(networks, place)
        ports = [port for port in kind.ports if port.network == place and port.interface]
        if rdma:
            infiniband = place == "fabric" and networks.fabric is not None and networks.fabric.type == "infiniband"
            ports = [port for port in ports if has_rdma(port, infiniband=infiniband)]
        names = tuple(port.interface for port in ports if port.interface)
        if names:
            return names[: _addressed(cluster, kind)] if place == "fabric" else names
        if network is not None and network.interface and not (rdma and place == "storage"):
            return (network.interface,)
    return ()


def _addressed(cluster: Cluster, kind: NodeType) -> int:
    """How many of the fabric's ports have an address: LNet needs one on each port that it uses."""
    return max(1, min((len(group.fabric) for group in cluster.of_type[kind.name]), default=1))
