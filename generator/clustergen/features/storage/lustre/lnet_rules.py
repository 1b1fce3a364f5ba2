"""LNet: networks, interfaces and addresses by which clients reach the servers."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import clients_of, clients_of_type
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.nodes import is_pending
from clustergen.cluster.roles import SERVICE
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.storage.lustre.lnet import (
    Nids,
    canonical,
    gateway_nids,
    lnet_nets,
    places_of,
    server_nets,
    server_nids,
    unaddressed_nets,
    unreached_nets,
    ways,
)
from clustergen.features.storage.lustre.resolved import Lustre
from clustergen.hostlist import compress
from clustergen.rules.reach import is_cut_off
from clustergen.rules.storage import no_rdma, rdma_possible


def networks(cluster: Cluster) -> Iterator[Finding]:
    """Servers that are reached by RDMA only, from a cluster without."""
    for name, entry in cluster.entries(Lustre).items():
        nids = [nid for group in entry.mgs for nid in group.split(",")]
        is_direct = not entry.lnet and not entry.routes
        if all("@o2ib" in nid for nid in nids) and is_direct and not rdma_possible(cluster):
            yield no_rdma(cluster, ("storage", name, "mgs"))


def interfaces(cluster: Cluster) -> Iterator[Finding]:
    """LNet needs the name of its interface, except for TCP on the management network, where the default interface is
    right. Nodes of the fabric must not fall back to TCP in silence.
    """
    for name, entry in cluster.entries(Lustre).items():
        for node_type in cluster.node_types:
            groups = clients_of_type(cluster, name, node_type)
            clients = [host for group in groups for host in group.hosts]
            unreached = [net for net in unreached_nets(cluster, node_type, entry) if _needs_name(cluster, entry, net)]
            usable = [
                each
                for each in lnet_nets(cluster, node_type, [entry])
                if each.interfaces or (each.name.startswith("tcp") and each.name not in unreached)
            ]
            is_unknown = any(map(is_pending, groups))  # an error of its own
            if not clients or not unreached or is_unknown or (usable and not _is_on_fabric(cluster, node_type)):
                continue
            net = unreached[0]
            result = ""
            stated = f": [{{name: {net}, interfaces: [{'ib0' if net.startswith('o2ib') else 'eno1'}]}}]"
            if usable:
                result = f"is mounted over {usable[0].name}"
                stated = f": [{{name: {usable[0].name}, interfaces: [{','.join(usable[0].interfaces) or 'eno1'}]}}]"
            nics = "nics of a separate node type" if node_type.name == SERVICE else f"node_types.{node_type.name}.nics"
            why, hint = _astray(cluster, node_type, entry, net) or _unnamed(cluster, entry, net, nics)
            kind = "RDMA interface" if why.startswith("is known") else "interface"
            yield Finding(
                "lnet-interface-missing",
                ("storage", name, "mgs"),
                f"no {kind} of {compress(clients)} {why}, so '{name}' {result or 'cannot be mounted'}",
                f"{hint}, or set the networks in storage.{name}.lnet{stated}"
                + ("" if node_type.gpus else f", or leave these nodes out with storage.{name}.clients"),
                key=True,
            )


def stated_networks(cluster: Cluster) -> Iterator[Finding]:
    """Where the manifest states LNet, a client has an interface in a network of the MGS or a route to one."""
    for name, entry in cluster.entries(Lustre).items():
        path: ManifestPath = ("storage", name)
        local = [canonical(net.name) for net in entry.lnet]
        for index, route in enumerate(entry.routes):
            for gateway in route.gateways:
                if entry.lnet and canonical(gateway.rpartition("@")[2]) not in local:
                    message = f"clients of '{name}' have no interface in the network of the router {gateway}"
                    hint = f"write the interfaces in storage.{name}.lnet: [{{name: …, interfaces: […]}}]"
                    yield Finding("lnet-interface-missing", (*path, "routes", index, "gateways"), message, hint)
        ways = [*local, *(canonical(route.net) for route in entry.routes)]
        if entry.lnet and not set(ways) & set(server_nets(entry)):
            message = f"clients of '{name}' have LNet network {', '.join(local)}, and the MGS {entry.mgs[0]} is in none"
            hint = (
                f"add a network of the MGS, or a route: storage.{name}.routes:"
                f" [{{net: {server_nets(entry)[0]}, gateways: [ADDRESS@{local[0]}]}}]"
            )
            yield Finding("lnet-interface-missing", (*path, "lnet"), message, hint, key=True)


def _peers(entry: Lustre, net: str) -> tuple[str, Nids]:
    """Kind and NIDs of the hosts that clients reach on an LNet network: the MGS, or routers that lead to it."""
    return ("MGS", server_nids(entry)) if net in server_nets(entry) else ("router", gateway_nids(entry))


def _unnamed(cluster: Cluster, entry: Lustre, net: str, nics: str) -> tuple[str, str]:
    """The problem and the remedy where the manifest names no interface."""
    peer, nids = _peers(entry, net)
    nid, place = next(iter(places_of(cluster, nids, net).items()), ("", None))
    by_rdma = net.startswith("o2ib")
    where = (
        f"is {'known ' * by_rdma}in the {place.name} network, where the {peer} {nid} is"
        if place
        else f"is on LNet network {net}"
    )
    network = f" with network: {place.key}" if place and place.key != "fabric" else ""
    by_tcp = f"write @tcp in place of @{net} in mgs if the servers have LNet on TCP there, or "
    is_plain = place is not None and place.key == "management" and by_rdma and peer == "MGS"
    return where, f"{by_tcp * is_plain}list the ports with their interfaces in {nics}{network}"


def _astray(cluster: Cluster, node_type: NodeType, entry: Lustre, net: str) -> tuple[str, str] | None:
    """The same where interfaces are in other networks than the MGS, without a router; None: there are none."""
    ports = ways(cluster, node_type, entry)[net].astray
    if not ports:
        return None
    peer, nids = _peers(entry, net)
    names = " and ".join(f"{host}@{name}" for host, name in nids if name == net)
    listed = ", ".join(f"{name} in {cidr}" for name, cidr in ports)
    return (
        f"has a route to the {peer} {names} ({listed}, without a gateway)",
        "write NIDs in these networks in mgs, give the nodes addresses in the network of the MGS, or state the gateway"
        " of these networks if they are routed",
    )


def shared_networks(cluster: Cluster) -> Iterator[Finding]:
    """File systems in different networks cannot have the same LNet network: it has one list of interfaces on a node."""
    for node_type in cluster.node_types:
        first: dict[str, tuple[str, tuple[str, ...]]] = {}
        for name, entry in cluster.entries(Lustre).items():
            groups = clients_of_type(cluster, name, node_type)
            hosts = compress(host for group in groups for host in group.hosts)
            for net in lnet_nets(cluster, node_type, [entry]) if groups else ():
                other, interfaces = first.setdefault(net.name, (name, net.interfaces))
                if net.interfaces and interfaces and set(interfaces).isdisjoint(net.interfaces):
                    yield Finding(
                        "lnet-interface-missing",
                        ("storage", name, "mgs"),
                        f"LNet network {net.name} of {hosts} is on {interfaces[0]} for '{other}', so it is not on"
                        f" {net.interfaces[0]}, which '{name}' needs",
                        f"give the servers of '{name}' an LNet network with another number, and write it in mgs",
                        key=True,
                    )


def _needs_name(cluster: Cluster, entry: Lustre, net: str) -> bool:
    """True if LNet's default interface, the first one that is up, is wrong for a network."""
    if net.startswith("o2ib"):
        return rdma_possible(cluster)
    return any(place.key != "management" for place in places_of(cluster, _peers(entry, net)[1], net).values())


def lnet_address_missing(cluster: Cluster) -> Iterator[Finding]:
    """LNet on RDMA uses the IP address of its interface."""
    for name, entry in cluster.entries(Lustre).items():
        rows = [
            (group, *net)
            for group in clients_of(cluster, name)
            for net in unaddressed_nets(cluster, group, entry)[:1]
            if not is_cut_off(cluster, group, entry)  # storage-unreachable
        ]
        if not rows:
            continue
        _, net, key, ports = rows[0]
        hosts = [host for group, *row in rows if row == [net, key, ports] for host in group.hosts]
        yield Finding(
            "lnet-address-missing",
            ("storage", name, "mgs"),
            f"{ports[0]} of {compress(hosts)} has no IP address in the {key} network, so LNet cannot start on {net} and"
            f" '{name}' is not mounted",
            f"add addresses.{key} to these nodes and cidr to networks.{key}; if another system assigns the addresses,"
            f" write storage.{name}.lnet: [{{name: {net}, interfaces: [{', '.join(ports)}]}}]",
            key=True,
        )


def _is_on_fabric(cluster: Cluster, node_type: NodeType) -> bool:
    """True if nodes of a type are plugged into the fabric, as far as the manifest shows; GPU nodes are, unless it lists
    their ports.
    """
    groups = cluster.of_type[node_type.name]
    hosts = {host for group in groups for host in group.hosts}
    return bool(
        node_type.fabric_ports()
        or any(group.fabric for group in groups)
        or any(not hosts.isdisjoint(switch.nodes) for switch in cluster.switches)
        or (node_type.gpus and not node_type.ports)
    )
