"""The cables that the manifest plans, as a reader of the real fabric meets them: by the names of ports, with places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clustergen.cluster.model import Cluster, NodeType, Switch
from clustergen.cluster.switches import ports_in
from clustergen.facility.cabling import cables
from clustergen.facility.expectations import port_rate
from clustergen.facility.model import End as CableEnd
from clustergen.facility.placement import devices, switches_of
from clustergen.hardware.model import End
from clustergen.records import record


@record
class PlannedCable:
    """A cable of the plan; `a` is the lower end: a node, or the switch of the lower tier."""

    a: End
    b: End
    rail: int | None
    gbit: float | None


@record
class Expected:
    """The plan of one network.

    Ports of switches are numbers as the fabric shows them, ports of nodes are their devices. `adapters` has the devices
    of a node by position: names by which a machine may know each.
    """

    network: str
    cables: tuple[PlannedCable, ...]
    rails: Mapping[str, tuple[int, ...]]  # switch → rails that it serves; empty: all
    adapters: Mapping[str, tuple[tuple[str, ...], ...]]  # node with planned cables → names of each of its ports
    hosts: frozenset[str]  # all of the manifest
    optional: frozenset[str]  # that exist only when somebody starts them
    places: Mapping[str, str]  # device → rack and unit
    labels: Mapping[End, str]  # as printed on the device, where that differs from the port's number or name
    guests: frozenset[str] = frozenset()  # devices that are not nodes, such as UFM, on reserved ports
    guest_leaves: frozenset[str] = frozenset()  # leaves with reserved ports
    least_gbit: float | None = None  # of any link: the network's rate, or that of the slowest port of a node

    def words(self, end: End) -> str:
        """An end of a cable as a technician looks for it: `leaf1 port 17 (9/1, rack2 U40)`."""
        port = f"port {end.port}" if end.device in self.rails else end.port
        notes = [note for note in (self.labels.get(end), self.places.get(end.device)) if note]
        return f"{end.device} {port}" + (f" ({', '.join(notes)})" if notes else "")

    def device_words(self, device: str) -> str:
        place = self.places.get(device)
        return f"{device} ({place})" if place else device


def expected(cluster: Cluster, network: str) -> Expected:
    """The plan of a network; without cables where the manifest has neither switches nor a plan of it."""
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    adapters = {node_type.name: _adapters(node_type, network) for node_type in cluster.node_types}
    switches = {switch.name: switch for switch in switches_of(cluster).get(network, ())}
    labels: dict[End, str] = {}
    planned = []
    for cable in cables(cluster):
        if cable.network != network:
            continue
        ends = []
        for end in (cable.a, cable.b):
            node_type = kinds.get(end.device)
            if node_type is None:
                switch = switches[end.device]
                spot = End(end.device, str(_port_number(end, switch.nics_per_port if switch.nodes else 1)))
            else:
                spot = End(end.device, adapters[node_type.name][end.number - 1][0])
            if end.port and end.port != spot.port:
                labels[spot] = end.port
            ends.append(spot)
        planned.append(PlannedCable(ends[0], ends[1], cable.rail, cable.gbit))
    connected = {cable.a.device: adapters[kinds[cable.a.device].name] for cable in planned if cable.a.device in kinds}
    places = {
        name: f"{device.place.rack} U{device.place.unit}" for name, device in devices(cluster).items() if device.place
    }
    guests, guest_leaves = _guests(cluster, network, tuple(switches.values()))
    return Expected(
        network=network,
        cables=tuple(planned),
        rails={name: switch.rails for name, switch in switches.items()},
        adapters=connected,
        hosts=frozenset(kinds),
        optional=frozenset(host for group in cluster.groups if group.is_dynamic for host in group.hosts),
        places=places,
        labels=labels,
        guests=guests,
        guest_leaves=guest_leaves,
        least_gbit=_least_gbit(cluster, network),
    )


def _least_gbit(cluster: Cluster, network: str) -> float | None:
    """None where the manifest states no rate of the network."""
    section = cluster.networks.get(network)
    if section is None or not section.rate:
        return None
    ports = [port for group in cluster.groups for port in group.type.ports if port.network == network]
    return min((rate.gbit for port in ports if (rate := port_rate(cluster, port))), default=None)


def _guests(cluster: Cluster, network: str, switches: Sequence[Switch]) -> tuple[frozenset[str], frozenset[str]]:
    """Devices for which a plan reserves ports, and the leaves of the first unit."""
    section = cluster.networks.get(network)
    names = section.plan.reserved_for if section and section.plan else ()
    first = next((frozenset(switch.nodes) for switch in switches if switch.nodes), frozenset())
    leaves = frozenset(switch.name for switch in switches if not first.isdisjoint(switch.nodes))
    return (frozenset(names), leaves) if names else (frozenset(), frozenset())


def _adapters(node_type: NodeType, network: str) -> tuple[tuple[str, ...], ...]:
    ports = ports_in(node_type, network)
    names = [(port.device, port.interface) for _, port in sorted(ports.items())] or [(network, None)]
    return tuple(tuple(dict.fromkeys(name for name in pair if name)) for pair in names)


def _port_number(end: CableEnd, plugs: int) -> int:
    """InfiniBand's number of a port: of a switch whose ports are split, each plug has one.

    A port is called after its cage, then its place in a cage of several, then the plug of a splitter.
    """
    if plugs == 1:
        return end.number
    is_split = end.port.count("/") >= (1 if end.cage == str(end.number) else 2)
    return (end.number - 1) * plugs + (int(end.port.rpartition("/")[2]) if is_split else 1)
