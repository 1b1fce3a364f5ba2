"""Storage servers on the cluster's own networks: clients need addresses there."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.entry import Entry
from clustergen.cluster.groups import clients_of
from clustergen.cluster.ip_networks import is_on, network_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding
from clustergen.feature import items_of, module
from clustergen.hostlist import compress


def storage_unreachable(cluster: Cluster) -> Iterator[Finding]:
    """One finding for an entry: its clients that are on none of its servers' networks, where those are all known."""
    for name, entry in cluster.storage.items():
        cut_off = [group for group in clients_of(cluster, name) if is_cut_off(cluster, group, entry)]
        if not cut_off:
            continue
        server = _servers(cluster, cut_off[0], entry)[0]
        network = network_of(cluster, server)
        assert network is not None, "clients are cut off from known networks only"
        hosts = [host for group in cut_off for host in group.hosts]
        fabric = cluster.networks.fabric
        is_routable = network.key != "fabric" or fabric is None or fabric.type != "infiniband"
        ways = [f"add addresses.{network.key} to these nodes", f"remove their role from storage.{name}.clients"]
        ways += [f"state networks.{network.key}.gateway if the network is routed"] * is_routable
        place = f"{network.cidr}, the {network.name} network" if network.cidr else f"the {network.name} network"
        yield Finding(
            "storage-unreachable",
            ("storage", name),
            f"{compress(hosts)} {'has' if len(hosts) == 1 else 'have'} no address in {place}, where '{name}' is served"
            f" by {server}",
            f"{', '.join(ways[:-1])}, or {ways[-1]}",
            key=True,
        )


def is_cut_off(cluster: Cluster, group: NodeGroup, entry: Entry) -> bool:
    """True if a client has no address in the network of any server, where those are all known."""
    networks = [network_of(cluster, server) for server in _servers(cluster, group, entry)]
    return bool(networks) and all(net is not None and not net.routed and not is_on(group, net) for net in networks)


def _servers(cluster: Cluster, group: NodeGroup, entry: Entry) -> list[str]:
    """Hosts that a client of the entry has to reach, as its kind of file system knows them."""
    reached = getattr(module(f"storage.{entry.type}", "rules"), "reached", None)
    return list(items_of(reached, str, cluster, group, entry)) if reached else []
