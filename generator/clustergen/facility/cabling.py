"""Every cable of the planned networks: which port of which device joins which port of which switch.

Node ports of a switch count from its first port up, in the order of its nodes; its uplinks take its last ports. So the
same node has the same port number on the leaf of every rail, and a leaf that gets its last nodes later keeps its
cables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clustergen.catalogue.cabling import fitting_connector
from clustergen.catalogue.hardware import Switch as SwitchModel
from clustergen.cluster.model import Cluster, NodeType, Port, Switch, once_per_cluster
from clustergen.cluster.switches import ports_in
from clustergen.facility.media import with_media
from clustergen.facility.model import Cable, End, Link
from clustergen.facility.placement import switches_of


@once_per_cluster
def cables(cluster: Cluster) -> tuple[Cable, ...]:
    """All cables, network by network: those of the nodes switch by switch, then those between switches."""
    return tuple(with_media(cluster, list(_links(cluster))))


def _links(cluster: Cluster) -> Iterator[Link]:
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    view = cluster.catalogue
    for name, switches in switches_of(cluster).items():
        network = cluster.networks[name]
        models = {model: view.switch(model) for switch in switches if (model := switch.model)}
        technology = next(
            (model.fabric for model in models.values() if model), "ethernet" if network.type == "roce" else network.type
        )
        yield from _Network(
            name, technology, network.rate_gbit, network.plan.ports if network.plan else None, switches, models
        ).links(kinds)


class _Network:
    """The links of one network, and how many ports of each switch they have taken."""

    def __init__(
        self,
        name: str,
        technology: str,
        rate: int | None,
        most: int | None,
        switches: Sequence[Switch],
        models: Mapping[str, SwitchModel | None],
    ) -> None:
        self.name, self.technology, self.rate, self.most = name, technology, rate, most
        self.switches = {switch.name: switch for switch in switches}
        self._models = models
        self._shared = _shared_leaves(switches)
        self._taken = dict.fromkeys(self.switches, 0)

    def links(self, kinds: Mapping[str, NodeType]) -> Iterator[Link]:
        for switch in self.switches.values():
            yield from self._of_nodes(switch, kinds)
        for switch in self.switches.values():
            yield from self._uplinks(switch)

    def _of_nodes(self, switch: Switch, kinds: Mapping[str, NodeType]) -> Iterator[Link]:
        count = 0
        for host in switch.nodes:
            kind = kinds.get(host)
            for rail, number, port in self._ports_on(switch, host, kind) if kind else ():
                slot, part = divmod(count, switch.nics_per_port)
                count += 1
                self._taken[switch.name] = slot + 1
                b = self._end(switch, slot + 1, part)
                rate = _least(self.rate, port.max_gbit, switch.port_gbit)
                connector = port.connector
                if port.connector_options and rate:
                    sold = (connector, *port.connector_options)
                    connector = fitting_connector(sold, b.connector, rate, self.technology)
                a = End(host, port.label or port.device, number, port.cage or port.device, connector)
                yield Link(network=self.name, technology=self.technology, rail=rail, a=a, b=b, gbit=rate)

    def _ports_on(self, switch: Switch, host: str, node_type: NodeType) -> Iterator[tuple[int | None, int, Port]]:
        """Rail, number from 1 and port of each port of a node that ends in that leaf.

        A node that the manifest connects and whose ports nobody knows has one.
        """
        ports = ports_in(node_type, self.name, self.most) or {
            0: Port(device=self.name, interface=None, network=self.name, rail=None, numa=None, pci=None, max_gbit=None)
        }
        numbers = {rail: index + 1 for index, rail in enumerate(sorted(ports))}
        if switch.rails:
            for rail in switch.rails:
                if rail in ports:
                    yield rail, numbers[rail], ports[rail]
            return
        leaves = self._shared[host]
        each = max(1, -(-len(ports) // len(leaves)))
        place = leaves.index(switch.name)
        mine = sorted(ports)[place * each : (place + 1) * each]
        for rail in mine or sorted(ports)[-1:]:
            yield (rail if len(ports) > 1 else None), numbers[rail], ports[rail]

    def _uplinks(self, switch: Switch) -> Iterator[Link]:
        up = sum(switch.uplinks.values())
        port = max(self._taken[switch.name], (switch.ports or 0) - up)
        for top, links in switch.uplinks.items():
            above = self.switches.get(top)
            if above is None:
                continue  # a rule says so
            for _ in range(links):
                port += 1
                self._taken[top] += 1
                a, b = self._end(switch, port), self._end(above, self._taken[top])
                rate = _least(self._up_gbit(switch), above.port_gbit)
                yield Link(network=self.name, technology=self.technology, rail=switch.rail, a=a, b=b, gbit=rate)

    def _end(self, switch: Switch, number: int, part: int | None = None) -> End:
        """`part` counts the plugs of a splitter from 0; links between switches have none."""
        model = self._models.get(switch.model or "")
        cage, port = port_name(model, number)
        if switch.nics_per_port > 1 and part is not None:
            port = f"{port}/{part + 1}"
        connector = "" if model is None else model.uplink_cage if number > model.ports else model.cage
        return End(switch.name, port, number, cage, connector)

    def _up_gbit(self, switch: Switch) -> int | float | None:
        model = self._models.get(switch.model or "")
        return model.uplink_gbit if model and model.uplink_ports else switch.port_gbit


def port_name(model: SwitchModel | None, number: int) -> tuple[str, str]:
    """Cage and port as they are printed: port 3 is `3`, and `2/1` where a cage has two ports."""
    per_cage = (model and model.ports_per_cage) or 1
    cage = str(-(-number // per_cage))
    return cage, f"{cage}/{(number - 1) % per_cage + 1}" if per_cage > 1 else cage


def _shared_leaves(switches: Sequence[Switch]) -> dict[str, list[str]]:
    """Host → the leaves without a rail that it is on; its ports are divided among them."""
    leaves: dict[str, list[str]] = {}
    for switch in switches:
        if not switch.rails:
            for host in switch.nodes:
                leaves.setdefault(host, []).append(switch.name)
    return leaves


def _least(*rates: float | None) -> int | None:
    finite = [int(rate) for rate in rates if rate]
    return min(finite) if finite else None
