"""What storage entries mean on the nodes: names, releases and the interfaces that LNet uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue.storage import lustre_kernels
from clustergen.cluster.fabric import has_rdma
from clustergen.cluster.ip_networks import IpNetwork, addresses_in, ip_networks, network_of
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.filesystems.lustre.model import Lustre
from clustergen.records import record


@record
class LnetNet:
    """One LNet network of a node; no interfaces: the manifest does not say which ones it has there."""

    name: str  # o2ib, tcp, o2ib1 …
    interfaces: tuple[str, ...]


def lustre_fsname(name: str, entry: Lustre) -> str:
    """The file system's name on its servers: the manifest's, else the entry's."""
    return entry.fsname or name


def lustre_clients(cluster: Cluster, entry: Lustre) -> tuple[NodeGroup, ...]:
    """The entries of nodes that mount the file system."""
    return tuple(group for group in cluster.groups if any(group.has(role) for role in entry.clients))


def lustre_release(cluster: Cluster, entry: Lustre) -> tuple[int, ...]:
    """Major and minor number of the client: as stated, else the first that supports the kernels of all clients."""
    if entry.version is not None:
        return tuple(map(int, entry.version.split(".")))
    systems = [group.type.os.id for group in lustre_clients(cluster, entry)] or [cluster.os.id]
    return max(lustre_kernels()[os].release for os in systems)


def lnet_nets(cluster: Cluster, kind: NodeType, entries: Iterable[Lustre]) -> tuple[LnetNet, ...]:
    """The LNet networks that nodes of a type need to reach the servers of these file systems, in their order."""
    nets: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        for network in entry.lnet:
            nets.setdefault(_canonical(network.name), network.interfaces)
        if entry.lnet:
            continue
        reachable = {net: _ports(cluster, kind, entry, net)[1] for net in server_nets(entry)}
        # A server with NIDs on several networks is reached over those that this node has; one of them is enough.
        for net, interfaces in reachable.items():
            if interfaces or not any(reachable.values()):
                nets.setdefault(net, interfaces)
    return tuple(LnetNet(name, interfaces) for name, interfaces in nets.items())


def unreached_nets(cluster: Cluster, kind: NodeType, entry: Lustre) -> list[str]:
    """The servers' LNet networks without a known interface of a node type; none where the manifest states them."""
    return [] if entry.lnet else [net for net in server_nets(entry) if not _ports(cluster, kind, entry, net)[1]]


def unaddressed_nets(cluster: Cluster, group: NodeGroup, entry: Lustre) -> list[tuple[str, str, tuple[str, ...]]]:
    """The servers' RDMA networks whose interfaces have no address on these nodes, with the key of `addresses` and the
    interfaces: the IP address is a node's NID, so LNet does not start without one. None where the manifest states
    `lnet`: then another system may assign the addresses.
    """
    result = []
    for net in server_nets(entry) if not entry.lnet else ():
        place, names = _ports(cluster, group.type, entry, net)
        if net.startswith("o2ib") and names and not addressed_by(place, group):
            result.append((net, place, names))
    return result


def _canonical(net: str) -> str:
    """`o2ib0` and `o2ib` are one network."""
    return net[:-1] if net in ("o2ib0", "tcp0") else net


def server_nids(entry: Lustre) -> list[tuple[str, str]]:
    """Host and LNet network of every NID of the MGS."""
    nids = [nid for group in entry.mgs for nid in group.split(",")]
    return [(host, _canonical(net)) for host, _, net in (nid.rpartition("@") for nid in nids)]


def server_nets(entry: Lustre) -> list[str]:
    return list(dict.fromkeys(net for _, net in server_nids(entry)))


def nids_of(cluster: Cluster, host: str, entry: Lustre) -> str:
    """The NIDs of a node on the networks of the MGS, as `10.1.0.21@o2ib,10.0.0.21@tcp`; empty without an address."""
    group = next((group for group in cluster.groups if host in group.hosts), None)
    if group is None:
        return ""
    nids = []
    for net in server_nets(entry):
        rdma = "storage" if group.storage else "fabric"
        place = _ports(cluster, group.type, entry, net)[0] or (rdma if net.startswith("o2ib") else "management")
        network = next((network for network in ip_networks(cluster) if network.key == place), None)
        addresses = addresses_in(group, network) if network is not None else ()
        if addresses:
            nids.append(f"{addresses[group.hosts.index(host)]}@{net}")
    return ",".join(nids)


def server_places(cluster: Cluster, entry: Lustre, net: str) -> dict[str, IpNetwork]:
    """The cluster's networks in which the MGS has its NIDs on an LNet network, by NID; without NIDs elsewhere."""
    places = {f"{host}@{name}": network_of(cluster, host) for host, name in server_nids(entry) if name == net}
    return {nid: network for nid, network in places.items() if network is not None}


def _ports(cluster: Cluster, kind: NodeType, entry: Lustre, net: str) -> tuple[str, tuple[str, ...]]:
    """Key of the network, and interfaces in it, over which nodes of a type reach the MGS on an LNet network.

    Where all addresses of the MGS lie in networks of the cluster that are not routed, only interfaces in those reach
    it. Else the MGS's networks come first, then the storage network, then the fabric (RDMA) or management (TCP). A
    network where the nodes have addresses comes before all others: a DGX has storage ports also where none is used.
    """
    networks = list(server_places(cluster, entry, net).values())
    places = [network.key for network in networks]
    if len(networks) < sum(name == net for _, name in server_nids(entry)) or any(each.routed for each in networks):
        places += ["storage", "fabric" if net.startswith("o2ib") else "management"]
    candidates = list(_candidates(cluster, kind, net, tuple(dict.fromkeys(places))))
    for place, names in candidates:
        if any(addressed_by(place, group) for group in cluster.of_type[kind.name]):
            return place, names
    return candidates[0] if candidates else ("", ())


def addressed_by(place: str, group: NodeGroup) -> bool:
    """Whether nodes have addresses in a network; all have one in the management network."""
    return bool(group.storage if place == "storage" else group.fabric if place == "fabric" else True)


def _candidates(
    cluster: Cluster, kind: NodeType, net: str, places: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    networks = cluster.manifest.networks
    rdma = net.startswith("o2ib")
    for place in places:
        network = getattr(networks, place)
        ports = [port for port in kind.ports if port.network == place and port.interface]
        if rdma:
            infiniband = place == "fabric" and networks.fabric is not None and networks.fabric.type == "infiniband"
            ports = [port for port in ports if has_rdma(port, infiniband=infiniband)]
        names = tuple(port.interface for port in ports if port.interface)
        if names:
            yield place, names[: _addressed(cluster, kind)] if place == "fabric" else names
        elif network is not None and network.interface and not (rdma and place != "fabric"):
            yield place, (network.interface,)


def _addressed(cluster: Cluster, kind: NodeType) -> int:
    """How many of the fabric's ports have an address: LNet needs one on each port that it uses."""
    return max(1, min((len(group.fabric) for group in cluster.of_type[kind.name]), default=1))
