"""Interfaces that the manifest configures: each needs a name, an address that the node can look up, and a way to it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.interfaces import configured, host_interfaces, type_ports, uses
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.networks import HostNetwork

_CODE = "interface-not-configurable"


def incomplete(cluster: Cluster) -> Iterator[Finding]:
    for key, network in configured(cluster).items():
        path: ManifestPath = ("networks", key)
        if network.cidr is None:
            yield Finding(_CODE, (*path, "configure"), f"the {key} network has no cidr", f"add networks.{key}.cidr")
        if not cluster.manifest.host.hosts_file:
            yield Finding(
                _CODE,
                (*path, "configure"),
                "nodes look up their addresses in /etc/hosts, which host.hosts_file turns off",
                "remove host.hosts_file, or configure: true",
            )
        if network.routes and network.gateway is None:
            yield Finding(
                _CODE,
                (*path, "routes"),
                f"the {key} network has no gateway for its routes",
                f"add networks.{key}.gateway",
            )
        yield from _names(cluster, key, network)


def _names(cluster: Cluster, key: str, network: HostNetwork) -> Iterator[Finding]:
    """The first node type whose interface has no name."""
    path: ManifestPath = ("networks", key)
    end = f".{network.vlan}" if network.vlan else ""
    if end and network.interface and not network.interface.endswith(end):
        yield Finding(
            _CODE,
            (*path, "interface"),
            f"'{network.interface}' is not the name of an interface with VLAN {network.vlan}",
            f"write the parent's name and the id: {network.interface}{end}",
        )
        return
    for kind in cluster.node_types:
        if not uses(cluster, kind, key):
            continue
        ports = type_ports(cluster, kind, key)
        if network.bond and not network.interface:
            yield Finding(
                _CODE, (*path, "bond"), f"the bond of the {key} network has no name", f"add networks.{key}.interface"
            )
            return
        if network.bond and max(len(ports), len(network.bond.ports)) < 2:
            yield Finding(
                _CODE,
                (*path, "bond"),
                f"a bond needs two ports, and nodes of type '{kind.name}' have {len(ports) or 'none'}",
                f"add networks.{key}.bond.ports, or list the ports under node_types.{kind.name}.nics",
            )
            return
        if not network.bond and not ports and not network.interface:
            yield Finding(
                _CODE,
                (*path, "configure"),
                f"the interface of nodes of type '{kind.name}' in the {key} network has no name",
                f"add networks.{key}.interface, or list the port under node_types.{kind.name}.nics",
            )
            return


def shared(cluster: Cluster) -> Iterator[Finding]:
    """One interface cannot be configured by two networks; a VLAN of it can."""
    for kind in cluster.node_types:
        seen: dict[str, str] = {}
        for row in host_interfaces(cluster, kind):
            for name in {row.name, *row.ports}:
                if name in seen:
                    yield Finding(
                        _CODE,
                        ("networks", row.network, "configure"),
                        f"'{name}' of nodes of type '{kind.name}' is already configured for the {seen[name]} network",
                        "add vlan, and write the interface as PARENT.ID",
                    )
                    return
                seen[name] = row.network


RULES = (incomplete, shared)
