"""The fabric against itself, where no plan says what is right: the most frequent value is assumed to be intended.

A leaf's rail is the one that most of its adapters have, a bundle between two tiers is as wide as most are, a node has
as many rails as most nodes, a link is as fast as most.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from clustergen.diagnostics import quote
from clustergen.diagnostics.words import counted
from clustergen.hardware.findings import Group, Item, folded, grouped, port_command, unnamed_adapters
from clustergen.hardware.model import ADAPTER, SWITCH, End, Facts
from clustergen.hardware.names import device_label, in_style_of, is_aggregation, is_indexed, nic_of, switch_name

_MOST = 0.6
"""Share of a leaf's adapters that makes a rail of it, and of a tier's pairs that makes bundles of them."""


class Symmetry:
    """The tiers of a fabric, and what in them differs from the rest."""

    def __init__(self, facts: Facts, least_gbit: float | None = None) -> None:
        """`least_gbit`: the rate of the network in the manifest, which every link has to reach."""
        self._facts = facts
        self._least_gbit = least_gbit
        self._adapters: dict[str, dict[str, tuple[str, End, int]]] = defaultdict(dict)  # host → label → id, end, line
        self._hosts_on: dict[str, list[tuple[str, str, str, int]]] = defaultdict(list)  # leaf → label, host, port, line
        self._unnamed: dict[tuple[str, str], list[tuple[str, int]]] = {}  # switch, description → ports and lines
        self._twice: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._bundles: Counter[tuple[str, str]] = Counter()
        self._neighbours: dict[str, set[str]] = defaultdict(set)
        self._read()
        self._tiers = self._tiers_of()
        self._rails = self._rails_of()

    def groups(self) -> Iterator[Group]:
        yield from self._swapped()
        yield from self._uneven()
        if self._facts.is_complete:
            yield from self._missing_rails()
        yield from self._slow()
        yield from self.duplicates()
        yield from unnamed_adapters({(self._words(switch), name): at for (switch, name), at in self._unnamed.items()})

    def duplicates(self) -> Iterator[Group]:
        """Adapters of one name, which two machines of one host name have."""
        items = [
            Item(f"{counted(len(ids), 'adapter')} are called {quote(f'{host} {label}')}")
            for (host, label), ids in self._twice.items()
            if len(ids) > 1
        ]
        hosts = {host for (host, _), ids in self._twice.items() if len(ids) > 1}
        headline = f"{counted(len(items), 'name')} stand for several adapters each, of {folded(hosts)}"
        hint = "give each machine its own host name, and start rdma-ndd again"
        yield from grouped("adapter-twice", items, headline, hint)

    def _read(self) -> None:
        devices = self._facts.devices
        for link in self._facts.links:
            for end, other in ((link.a, link.b), (link.b, link.a)):
                if devices[end.device].kind != SWITCH:
                    continue
                device = devices[other.device]
                if device.kind == SWITCH:
                    self._bundles[end.device, other.device] += 1
                    self._neighbours[end.device].add(other.device)
                elif device.kind == ADAPTER and not is_aggregation(device.name):
                    self._adapter(end, other, link.line)

    def _adapter(self, end: End, other: End, line: int) -> None:
        name = self._facts.devices[other.device].name
        nic = nic_of(name)
        if nic is None:
            self._unnamed.setdefault((end.device, name), []).append((end.port, line))
            self._hosts_on[end.device].append(("", "", end.port, line))
            return
        label = device_label(nic.label) if other.port == "1" else f"{device_label(nic.label)}/{other.port}"
        self._twice[nic.host, label].add(other.device)
        self._adapters[nic.host].setdefault(label, (other.device, end, line))
        self._hosts_on[end.device].append((label, nic.host, end.port, line))

    def _tiers_of(self) -> Mapping[str, int]:
        """Switch → tier, 0 for leaves. A switch with a few adapters beside many links upwards and down is no leaf."""
        counts = sorted(len(hosts) for hosts in self._hosts_on.values())
        least = counts[len(counts) // 2] / 4 if counts else 0
        tiers = {switch: 0 for switch, hosts in self._hosts_on.items() if len(hosts) >= least}
        frontier = list(tiers)
        while frontier:
            above = {other: None for switch in frontier for other in self._neighbours[switch] if other not in tiers}
            tiers.update((switch, tiers[frontier[0]] + 1) for switch in above)
            frontier = list(above)
        return tiers

    def _rails_of(self) -> Mapping[str, str]:
        """Leaf → the adapter that most of its nodes have on it; leaves without a majority serve several rails."""
        rails = {}
        for switch, hosts in self._hosts_on.items():
            labels = Counter(label for label, _, _, _ in hosts if is_indexed(label))
            if labels and (most := labels.most_common(1)[0])[1] >= max(2, _MOST * labels.total()):
                rails[switch] = most[0]
        return rails if len(set(rails.values())) > 1 else {}

    def _swapped(self) -> Iterator[Group]:
        """Nodes with ports on the leaf of another rail.

        A machine that is cabled in another way throughout, such as a management host, is not a swap.
        """
        items, ports = [], 0
        for host, adapters in self._adapters.items():
            rails = {label: self._rails.get(end.device) for label, (_, end, _) in adapters.items()}
            wrong = [label for label, rail in rails.items() if rail is not None and rail != label and is_indexed(label)]
            is_permuted = {rail for rail in rails.values() if rail} == set(rails)
            if not wrong or not (is_permuted or len(wrong) * 2 < len(rails)):
                continue
            ports += len(wrong)
            ends = []
            for label in wrong:
                device_id, end, _ = adapters[label]
                shown = self._facts.devices[device_id].name.partition(" ")[2]
                leaf = f"{self._words(end.device)} port {end.port}"
                ends.append(f"{shown} is on {leaf}, where most nodes have {in_style_of(rails[label] or '', shown)}")
            items.append(Item(f"{host}: {'; '.join(ends)}", min(adapters[label][2] for label in wrong)))
        headline = f"{counted(ports, 'port')} of {counted(len(items), 'node')} are on the leaf of another rail"
        hint = "exchange the cables at the node; NCCL expects that GPUs of one rail meet in one leaf"
        yield from grouped("rail-swapped", items, headline, hint)

    def _uneven(self) -> Iterator[Group]:
        """Bundles between two tiers that are narrower than most of those beside them, tier by tier."""
        for tier in range(max(self._tiers.values(), default=0)):
            pairs: dict[tuple[str, str], int] = {}
            for lowers, uppers in self._parts(tier):
                counts = Counter(self._bundles[low, up] for low in lowers for up in uppers)
                if counts[0] <= (1 - _MOST) * counts.total():
                    pairs.update(((low, up), self._bundles[low, up]) for low in lowers for up in uppers)
            if not pairs:
                continue
            width = Counter(pairs.values()).most_common(1)[0][0]
            short = {pair: width - count for pair, count in pairs.items() if count < width}
            items = [
                Item(
                    f"{self._words(low)} – {self._words(up)}: {counted(width - less, 'cable')} instead of {width}",
                    self._facts.devices[low].line,
                )
                for (low, up), less in sorted(short.items(), key=lambda pair: list(map(self._words, pair[0])))
            ]
            lower = "leaf" if tier == 0 else "spine"
            lowers_of_all = {low for low, _ in pairs}
            be = "is" if sum(short.values()) == 1 else "are"
            headline = (
                f"{sum(short.values()):,} of {counted(width * len(pairs), 'uplink')} {be} missing on"
                f" {len({low for low, _ in short}):,} of {counted(len(lowers_of_all), lower)}"
            )
            hint = "plug in the missing cables, or look for their LEDs; opensm's ftree requires equal bundles"
            yield from ([Group("bundle-uneven", headline, hint, tuple(items))] if items else [])

    def _parts(self, tier: int) -> Iterator[tuple[list[str], list[str]]]:
        """The connected parts of two neighbouring tiers."""
        lowers = [switch for switch, number in self._tiers.items() if number == tier]
        visited: set[str] = set()
        for start in lowers:
            if start in visited:
                continue
            part = {start: None}
            queue = [start]
            while queue:
                switch = queue.pop()
                across = 2 * tier + 1 - self._tiers[switch]
                for other in self._neighbours[switch]:
                    if self._tiers.get(other) == across and other not in part:
                        part[other] = None
                        queue.append(other)
            visited.update(part)
            sides = ([one for one in part if self._tiers[one] == at] for at in (tier, tier + 1))
            yield next(sides), next(sides)

    def _missing_rails(self) -> Iterator[Group]:
        """Nodes that lack an adapter which most nodes have.

        An adapter without a name on a leaf of that rail may be theirs: then nothing is said.
        """
        sets = Counter(frozenset(label for label in labels if is_indexed(label)) for labels in self._adapters.values())
        if not sets or not self._rails:
            return
        usual = sets.most_common(1)[0][0]
        if len(usual) < 2 or sets[usual] < _MOST * sets.total() / 2:
            return
        hosts_of: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for host, adapters in self._adapters.items():
            lacking = tuple(sorted(usual - set(adapters)))
            if lacking and len(lacking) * 2 < len(usual) and not self._may_be_unnamed(host, lacking):
                hosts_of[lacking].append(host)
        items = [Item(f"{folded(hosts)}: no link of {', '.join(lacking)}") for lacking, hosts in hosts_of.items()]
        count = sum(map(len, hosts_of.values()))
        headline = f"{counted(count, 'node')} have fewer links than most"
        command = port_command(self._facts.sources)
        hint = f"look for the leaf of that rail, then for cable and driver: {command} on the node shows its ports"
        yield from grouped("cable-missing", items, headline, hint)

    def _may_be_unnamed(self, host: str, lacking: tuple[str, ...]) -> bool:
        """True if a leaf of that rail which serves the node's neighbours has an adapter without a name."""
        leaves = [end.device for _, end, _ in self._adapters[host].values()]
        neighbours = {other for leaf in leaves for _, other, _, _ in self._hosts_on[leaf] if other}
        for leaf, rail in self._rails.items():
            on_leaf = {other for _, other, _, _ in self._hosts_on[leaf]}
            if rail in lacking and "" in on_leaf and not neighbours.isdisjoint(on_leaf):
                return True
        return False

    def _slow(self) -> Iterator[Group]:
        rates = Counter(link.rate for link in self._facts.links if link.gbit is not None)
        if not rates:
            return
        usual = rates.most_common(1)[0][0]
        gbit = next(link.gbit for link in self._facts.links if link.rate == usual)
        others, than = f"most links at {usual}", f"most, {usual}"
        if self._least_gbit and gbit is not None and gbit < self._least_gbit:
            gbit = self._least_gbit
            others = than = f"the manifest's rate, {gbit:g} Gb/s"
        items = [
            Item(f"{self._end(link.a)} – {self._end(link.b)} runs at {link.rate}, {others}", link.line)
            for link in self._facts.links
            if link.gbit is not None and gbit is not None and link.gbit < gbit
        ]
        headline = f"{len(items):,} of {counted(len(self._facts.links), 'link')} are slower than {than}"
        hint = "check cable and transceiver: width and speed are negotiated down where a lane is bad"
        yield from grouped("cable-slow", items, headline, hint)

    def _end(self, end: End) -> str:
        return f"{self._words(end.device)} port {end.port}"

    def _words(self, device_id: str) -> str:
        device = self._facts.devices[device_id]
        return (switch_name(device.name) if device.kind == SWITCH else device.name) or device.name or device_id
