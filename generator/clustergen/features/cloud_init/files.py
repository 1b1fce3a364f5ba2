"""Input of cloud-init beside user data: network configuration and metadata of each node, as a NoCloud seed.

A document for nodes of the same type in the same networks, a table of what differs, and a program that joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.contributions import FirstBoot
from clustergen.cluster.interfaces import HostInterface, Member, configured, host_interfaces, interfaces
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.records import record
from clustergen.render.file import Context, File
from clustergen.render.formats import CONF, YAML
from clustergen.render.tree import Outline

_NONE = "-"
_KINDS = ("ethernet", "bond", "vlan")


@record
class Entry:
    """One interface. `routes`: network and router."""

    member: Member
    interface: HostInterface
    routes: tuple[tuple[str, str], ...]


@record
class Section:
    """`kind`: ethernet, bond or vlan."""

    kind: str
    entries: tuple[Entry, ...]


@record
class NetworkConfig:
    """`kind`: node type; `boots`: the interface that a MAC address identifies, empty for none."""

    kind: str
    boots: str
    sections: tuple[Section, ...]


@record
class Node:
    """One row of the table; a dash stands for none."""

    name: str
    network_config: str
    user_data: str
    mac: str
    management: str
    storage: str


_Profile = tuple[str, tuple[HostInterface, ...], str]


def _profiles(cluster: Cluster) -> Iterator[tuple[NodeGroup, _Profile]]:
    """Entries of nodes with type, interfaces, and the one that their MAC addresses identify.

    Without the management network, a node with this configuration could not be reached, so there is none.
    """
    if "management" not in configured(cluster):
        return
    for group in cluster.groups:
        rows = tuple(
            row for row in host_interfaces(cluster, group.type) if row.network == "management" or group.storage
        )
        if group.addresses and any(row.network == "management" for row in rows):
            row = rows[0]
            boots = row.devices[0] if group.macs and not row.bond and _is_port(row, rows) else ""
            yield group, (group.type.name, rows, boots)


def _is_port(row: HostInterface, rows: tuple[HostInterface, ...]) -> bool:
    """True if the device below is a port of the machine that no other network bonds."""
    return not any(row.devices[0] in (other.bond, *other.ports) for other in rows)


def _names(cluster: Cluster) -> dict[_Profile, str]:
    names: dict[_Profile, str] = {}
    for _, profile in _profiles(cluster):
        if profile not in names:
            number = sum(kind == profile[0] for kind, _, _ in names) + 1
            names[profile] = profile[0] + (f".{number}" if number > 1 else "")
    return names


def network_configs(cluster: Cluster, _outline: Outline) -> Mapping[str, NetworkConfig]:
    """By node type; nodes of a type in other networks have a number behind it."""
    return {name: _network_config(*profile) for profile, name in _names(cluster).items()}


def _network_config(kind: str, rows: tuple[HostInterface, ...], boots: str) -> NetworkConfig:
    entries = [Entry(member, view.interface, view.routes) for view in interfaces(rows) for member in view.members]
    by_kind = [(key, tuple(entry for entry in entries if entry.member.kind == key)) for key in _KINDS]
    return NetworkConfig(kind, boots, tuple(Section(key, members) for key, members in by_kind if members))


def nodes(cluster: Cluster, outline: Outline) -> Context | None:
    names, boots = _names(cluster), cluster.needs(FirstBoot)
    rows = []
    for group, profile in _profiles(cluster):
        key = group.type.os.key
        has_data = any(key in boot.systems and group in outline.groups.get(boot.group, ()) for boot in boots)
        system = key if has_data else _NONE
        for index, host in enumerate(group.hosts):
            mac = group.macs[index] if group.macs else _NONE
            is_configured = any(row.network == "storage" for row in profile[1])
            storage = group.storage[index] if group.storage and is_configured else _NONE
            rows.append(
                Node(
                    name=host,
                    network_config=names[profile],
                    user_data=system,
                    mac=mac,
                    management=group.addresses[index],
                    storage=storage,
                )
            )
    return {"nodes": tuple(rows)} if rows else None


def program(cluster: Cluster) -> Context | None:
    return {"cluster": cluster.name} if _names(cluster) else None


FILES = (
    File(
        "tree/cloud-init/network-config.{profile}",
        network_configs,
        per="tree",
        format=YAML,
        source="tree/cloud-init/network-config",
    ),
    File("tree/cloud-init/nodes", nodes, per="tree", format=CONF),
    File("tree/cloud-init/seed.py", program, program="provisioning/seed.py"),
    File("tree/cloud-init/seed.json", program, values=True),
)
