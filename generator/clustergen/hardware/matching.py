"""Which device of the plan each device of the fabric is: by its name, else by what it is linked with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from clustergen.hardware.expected import Expected
from clustergen.hardware.model import ADAPTER, SWITCH, End, Facts
from clustergen.hardware.names import device_label, is_aggregation, nic_of, switch_name
from clustergen.hostlist import natural_key
from clustergen.records import record

FOREIGN = "\0"
"""Prefix of a device that is not in the plan; the rest is its id."""


@record
class Matches:
    """Devices of the fabric by id, with their names in the plan."""

    switches: Mapping[str, str]
    by_structure: frozenset[str]  # ids of switches whose name is another one
    adapters: Mapping[str, End]  # id → node and port; of adapters whose description names a node of the manifest
    aliases: Mapping[End, End]  # ports of Ethernet switches by the label that is printed on them

    def end(self, seen: End) -> End:
        """The end in the plan's names."""
        if name := self.switches.get(seen.device):
            end = End(name, seen.port)
            return self.aliases.get(end, end)
        if adapter := self.adapters.get(seen.device):
            return adapter if seen.port in ("1", adapter.port) else End(adapter.device, f"{adapter.port}/{seen.port}")
        return End(FOREIGN + seen.device, seen.port)


def match(facts: Facts, expected: Expected) -> Matches:
    adapters = dict(_adapters(facts, expected))
    matcher = _Switches(facts, expected, adapters)
    matcher.by_name()
    named = frozenset(matcher.names)
    matcher.by_links()
    # InfiniBand numbers the plugs of split ports through: its port 40 is not the cage 40.
    labels = expected.labels.items() if facts.sources else ()
    aliases = {End(end.device, label): end for end, label in labels if end.device in expected.rails}
    return Matches(matcher.names, frozenset(matcher.names) - named, adapters, aliases)


def host_of(name: str, hosts: frozenset[str]) -> str | None:
    """The node of the manifest that a host name means: itself, in other case, or with its domain."""
    for candidate in (name, name.lower(), name.partition(".")[0], name.partition(".")[0].lower()):
        if candidate in hosts:
            return candidate
    return None


def _adapters(facts: Facts, expected: Expected) -> Iterator[tuple[str, End]]:
    by_host: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for device in facts.devices.values():
        nic = nic_of(device.name) if device.kind == ADAPTER and not is_aggregation(device.name) else None
        if nic and (host := host_of(nic.host, expected.hosts)):
            by_host[host].append((device.id, nic.label))
    for host, nics in by_host.items():
        planned = expected.adapters.get(host, ())
        ports = {name: names[0] for names in planned for name in names}
        labels = {label: ports.get(label) or ports.get(device_label(label)) for _, label in nics}
        if not any(labels.values()) and len(labels) == len(planned):  # by order, as nothing else tells
            labels = {label: names[0] for label, names in zip(sorted(labels, key=natural_key), planned, strict=True)}
        for device_id, label in nics:
            yield device_id, End(host, labels[label] or device_label(label) or "port")


class _Switches:
    """Finds a switch of the plan for each switch of the fabric."""

    def __init__(self, facts: Facts, expected: Expected, adapters: Mapping[str, End]) -> None:
        self._facts = facts
        self._expected = expected
        self._adapters = adapters
        self.names: dict[str, str] = {}
        self._free = dict.fromkeys(expected.rails)
        self._seen = {device.id: device.name for device in facts.devices.values() if device.kind == SWITCH}
        self._links: dict[str, list[tuple[End, str]]] = defaultdict(list)  # switch → other ends, and its own port
        for link in facts.links:
            for end, other in ((link.a, link.b), (link.b, link.a)):
                if end.device in self._seen:
                    self._links[end.device].append((other, end.port))
        self._peers: dict[End, str] = {}
        self._above: dict[str, dict[str, None]] = defaultdict(dict)
        for cable in expected.cables:
            self._peers[cable.a], self._peers[cable.b] = cable.b.device, cable.a.device
            self._above[cable.a.device][cable.b.device] = None
            self._above[cable.b.device][cable.a.device] = None

    def by_name(self) -> None:
        planned = {name.lower(): name for name in self._expected.rails}
        counts = Counter(switch_name(text).lower() for text in self._seen.values())
        for device_id, text in self._seen.items():
            name = switch_name(text).lower()
            if name.partition(".")[0] in planned and name not in planned:
                name = name.partition(".")[0]
            if name in planned and counts[switch_name(text).lower()] == 1 and planned[name] in self._free:
                self._join(device_id, planned[name])

    def by_links(self) -> None:
        """Tier by tier: leaves by their nodes, spines by the leaves' ports; what ports do not tell, neighbours do."""
        for weigh in (self._port_votes, self._neighbour_votes):
            while self._free and len(self.names) < len(self._seen) and self._assign(weigh):
                pass

    def _assign(self, weigh: Callable[[str], Counter[str]]) -> bool:
        votes = []
        order = {name: number for number, name in enumerate(self._free)}
        unmatched = sorted(
            (device for device in self._seen if device not in self.names), key=lambda one: natural_key(self._seen[one])
        )
        for number, device_id in enumerate(unmatched):
            for name, count in weigh(device_id).items():
                if name in order:
                    votes.append((-count, number, order[name], device_id, name))
        before = len(self.names)
        for _, _, _, device_id, name in sorted(votes):
            if device_id not in self.names and name in self._free:
                self._join(device_id, name)
        return len(self.names) > before

    def _join(self, device_id: str, name: str) -> None:
        self.names[device_id] = name
        del self._free[name]

    def _port_votes(self, device_id: str) -> Counter[str]:
        ends = (self._planned_end(other) for other, _ in self._links[device_id])
        return Counter(self._peers[end] for end in ends if end in self._peers)

    def _neighbour_votes(self, device_id: str) -> Counter[str]:
        votes: Counter[str] = Counter()
        for other, _ in self._links[device_id]:
            if end := self._planned_end(other):
                votes.update(name for name in self._above[end.device] if name in self._free)
        return votes

    def _planned_end(self, seen: End) -> End | None:
        if name := self.names.get(seen.device):
            return End(name, seen.port)
        return self._adapters.get(seen.device)
