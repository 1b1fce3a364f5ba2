"""Cables of the plan and links of the fabric, paired: first by ports, then by devices.

A cable is right where both of its ends are linked with each other. What is left is compared by devices, because two
cables of one bundle may change places, and only then is an end that goes elsewhere a crossed or misplaced cable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from clustergen.diagnostics import quote
from clustergen.hardware.expected import Expected, PlannedCable
from clustergen.hardware.matching import FOREIGN, Matches
from clustergen.hardware.model import SWITCH, End, Facts, Link
from clustergen.hardware.names import is_aggregation, nic_of


class Pairing:
    """Cables that are right, in other ports, or wrong; a function that reports a cable or a link removes it."""

    def __init__(self, facts: Facts, expected: Expected, matches: Matches) -> None:
        self.facts = facts
        self.expected = expected
        self.matches = matches
        self.planned: dict[End, PlannedCable] = {}
        for cable in expected.cables:
            self.planned[cable.a] = self.planned[cable.b] = cable
        self.seen: dict[End, tuple[End, Link]] = {}
        for link in facts.links:
            if any(is_aggregation(facts.devices[end.device].name) for end in (link.a, link.b)):
                continue
            one, two = matches.end(link.a), matches.end(link.b)
            self.seen[one], self.seen[two] = (two, link), (one, link)
        self.used: set[End] = set()
        self.right: list[tuple[PlannedCable, Link]] = []
        self.wrong: list[PlannedCable] = []
        self._by_port()
        self._by_device()

    def _by_port(self) -> None:
        for cable in self.expected.cables:
            other = self.seen.get(cable.a)
            if other is not None and other[0] == cable.b:
                self.right.append((cable, other[1]))
                self.used |= {cable.a, cable.b}
            else:
                self.wrong.append(cable)

    def _by_device(self) -> None:
        """Pairs planned cables and links that join the same devices by other ports."""
        self.moved: list[tuple[PlannedCable, End, End, Link]] = []
        free: dict[tuple[str, str], list[tuple[End, End, Link]]] = defaultdict(list)
        for end, (other, link) in self.seen.items():
            if end not in self.used and other not in self.used:
                free[self._key(end), self._key(other)].append((end, other, link))
        missing = []
        for cable in self.wrong:
            candidates = free[self._key(cable.a), self._key(cable.b)]
            while candidates and not self.used.isdisjoint(candidates[-1][:2]):
                candidates.pop()
            if candidates:
                end, other, link = candidates.pop()
                self.used |= {end, other}
                self.right.append((cable, link))
                self.moved.append((cable, end, other, link))
            else:
                missing.append(cable)
        asked = self.facts.sources
        self.wrong = [one for one in missing if not asked or not asked.isdisjoint((one.a.device, one.b.device))]

    @property
    def has_other_port_names(self) -> bool:
        """True if a fabric that names its ports, as Ethernet's do, names most of them in another way than the plan."""
        return bool(self.facts.sources) and len(self.moved) * 2 > len(self.right)

    def _key(self, end: End) -> str:
        """A switch as a whole, and one port of a node."""
        return end.device if end.device in self.expected.rails else f"{end.device} {end.port}"

    def take(self, cables: Sequence[PlannedCable]) -> None:
        """These are reported: nothing else is said of them and of the links at their ends."""
        reported = set(map(id, cables))
        self.wrong = [cable for cable in self.wrong if id(cable) not in reported]

    def link_at(self, end: End) -> tuple[End, Link] | None:
        """The link of an end, if it is not a planned cable."""
        return None if end in self.used else self.seen.get(end)

    def is_unnamed(self, cable: PlannedCable) -> bool:
        """True if an adapter without a name is where this node port is planned: it may well be the node's."""
        other = self.link_at(cable.b)
        return cable.a.device in self.expected.adapters and other is not None and self.lacks_name(other[0])

    def lacks_name(self, end: End) -> bool:
        if not end.device.startswith(FOREIGN):
            return False
        device = self.facts.devices[end.device.removeprefix(FOREIGN)]
        return device.kind != SWITCH and nic_of(device.name) is None

    def use(self, *ends: End) -> None:
        """Nothing else is said of the links at these ends."""
        self.used.update(ends)

    def device_words(self, end: End) -> str:
        """The device of an end with its place, or as the fabric names it."""
        if not end.device.startswith(FOREIGN):
            return self.expected.device_words(end.device)
        device = self.facts.devices[end.device.removeprefix(FOREIGN)]
        return quote(device.name or device.id)

    def port_words(self, end: End) -> str:
        """A port of a node without its node: its device, and what is printed on it."""
        label = self.expected.labels.get(end)
        return f"{end.port} ({label})" if label else end.port

    def words(self, end: End) -> str:
        """An end with its place, or as the fabric names it where the plan does not have it."""
        if not end.device.startswith(FOREIGN):
            return self.expected.words(end)
        return f"{self.device_words(end)} port {end.port}"
