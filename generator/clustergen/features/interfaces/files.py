"""The nodes' own interfaces: files in the form of the operating system, and the program that activates them.

The files are the same on all nodes of a type: `@address@` stands for the node's own address, which
`clustergen-network` on the node looks up by name. A file per node would make a tree of ten thousand nodes unreadable.
"""

from __future__ import annotations

from functools import partial

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.interfaces import (
    NETWORKS,
    HostInterface,
    Interface,
    Member,
    configured,
    host_interfaces,
    interfaces,
)
from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD
from clustergen.render.file import Context, File, View, sbin
from clustergen.render.formats import CONF, YAML, Format


@record
class Row:
    """One network, as clustergen-network reads it."""

    network: str
    suffix: str  # a dash for none
    devices: str  # interfaces that must exist, with commas
    defined: str  # interfaces that the files configure, with commas


@record
class Connection:
    """One file of NetworkManager."""

    member: Member
    has_address: bool
    interface: HostInterface


@record
class Values:
    backend: str
    live: str  # directory of the files that the program writes
    kept: str  # directory that it keeps a copy of


_DIRECTORIES = {
    "netplan": ("/etc/netplan", "/etc/netplan"),
    "ifupdown": ("/etc/network/interfaces.d", "/etc/network"),
    "networkmanager": ("/etc/NetworkManager/system-connections", "/etc/NetworkManager/system-connections"),
}


def table(cluster: Cluster, node_type: NodeType) -> Context | None:
    rows = tuple(
        Row(row.network, row.suffix or "-", ",".join(row.devices), ",".join(row.defined))
        for row in host_interfaces(cluster, node_type)
    )
    return {"rows": rows} if rows else None


def netplan(cluster: Cluster, node_type: NodeType, network: str) -> Interface | None:
    return _interface(cluster, node_type, network) if node_type.os.fact("network") == "netplan" else None


def ifupdown(cluster: Cluster, node_type: NodeType, network: str) -> Interface | None:
    return _interface(cluster, node_type, network) if node_type.os.fact("network") == "ifupdown" else None


def connections(cluster: Cluster, node_type: NodeType, network: str) -> dict[str, Connection] | None:
    """NetworkManager's files: one for each interface, by its name."""
    view = _interface(cluster, node_type, network) if node_type.os.fact("network") == "networkmanager" else None
    if view is None:
        return None
    name = view.interface.name
    return {member.name: Connection(member, member.name == name, view.interface) for member in view.members}


def _interface(cluster: Cluster, node_type: NodeType, network: str) -> Interface | None:
    return next(
        (view for view in interfaces(host_interfaces(cluster, node_type)) if view.interface.network == network), None
    )


def values(cluster: Cluster, os: OperatingSystem) -> Values | None:
    if not configured(cluster):
        return None
    backend = os.fact("network")
    return Values(backend, *_DIRECTORIES[backend])


def unit(cluster: Cluster) -> bool:
    return bool(configured(cluster))


DIRECTORY = "all/etc/clustergen-network"


def _per_network(path: str, view: View, source: str, form: Format) -> tuple[File, ...]:
    """A row for each network; `{}` in the path is its name. NetworkManager and netplan ask for files of mode 0600."""
    return tuple(
        File(
            f"{DIRECTORY}/{network}/{path.replace('{}', network)}",
            partial(view, network=network),
            mode=0o600,
            per="type",
            format=form,
            source=f"{DIRECTORY}/{source}",
        )
        for network in NETWORKS
    )


FILES: tuple[File, ...] = (
    File(f"{DIRECTORY}/interfaces", table, per="type", format=CONF),
    *_per_network("60-clustergen-{}.yaml", netplan, "netplan.yaml", YAML),
    *_per_network("clustergen-{}", ifupdown, "ifupdown", CONF),
    *_per_network("clustergen-{}-{name}.nmconnection", connections, "nmconnection", CONF),
    File("all/etc/systemd/system/clustergen-network-rollback.service", unit, DAEMON_RELOAD),
    sbin("all", "network/clustergen-network.sh", unit),
    File("all/etc/clustergen/network.sh", values, values=True, per="os"),
)
