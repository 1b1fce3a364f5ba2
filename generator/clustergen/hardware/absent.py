"""Planned parts that the fabric lacks: switches, nodes and single cables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from clustergen.diagnostics.words import counted
from clustergen.hardware.expected import PlannedCable
from clustergen.hardware.findings import Group, Item, folded, grouped, port_command
from clustergen.hardware.pairing import Pairing


def missing_switches(pairs: Pairing) -> Iterator[Group]:
    """Switches without any link, each with the number of its cables."""
    present = set(pairs.matches.switches.values())
    by_switch: dict[str, list[PlannedCable]] = {name: [] for name in pairs.expected.rails if name not in present}
    for cable in pairs.wrong:
        for device in (cable.a.device, cable.b.device):
            if device in by_switch:
                by_switch[device].append(cable)
    if pairs.facts.sources:  # what nobody was asked about is not missing
        by_switch = {name: cables for name, cables in by_switch.items() if cables}
    items = [
        Item(f"{pairs.expected.device_words(name)} does not appear, nor its {counted(len(cables), 'cable')}")
        for name, cables in by_switch.items()
    ]
    headline = f"{len(items):,} of {counted(len(pairs.expected.rails), 'switch')} do not appear: "
    yield from grouped(
        "switch-missing", items, headline + folded(by_switch), "check that it is switched on, and its uplinks"
    )
    for name, cables in by_switch.items():
        # A cable of a missing leaf may well be plugged elsewhere, which is worth its own finding.
        pairs.take([one for one in cables if pairs.link_at(one.a) is None or one.a.device == name])


def missing_nodes(pairs: Pairing) -> Iterator[Group]:
    """Nodes none of whose adapters appears, by name or unnamed where it is planned."""
    sources = pairs.facts.sources
    absent = dict.fromkeys(host for host in pairs.expected.adapters if not sources or host in sources)
    for adapter in pairs.matches.adapters.values():
        absent.pop(adapter.device, None)
    cables: dict[str, list[PlannedCable]] = defaultdict(list)
    for cable in pairs.wrong:
        cables[cable.a.device].append(cable)
    hosts = [host for host in absent if not any(pairs.is_unnamed(cable) for cable in cables[host])]
    named = [host for host in hosts if host not in pairs.expected.optional]
    items = [
        Item(f"{pairs.expected.device_words(host)}: no link on its {counted(len(cables[host]), 'port')}")
        for host in named
    ]
    total = len(pairs.expected.adapters)
    headline = f"{len(items):,} of {counted(total, 'node')} do not appear: {folded(named)}"
    command = port_command(sources)
    hint = f"check that the node is switched on and its driver is loaded: {command} on the node shows its ports"
    yield from grouped("fabric-node-missing", items, headline, hint)
    pairs.take([cable for host in hosts for cable in cables[host]])


def missing(pairs: Pairing) -> Iterator[Group]:
    """By kind of cable, because uplinks that are missing cost bandwidth, and node ports cost the node."""
    pairs.take([cable for cable in pairs.wrong if pairs.is_unnamed(cable)])
    nodes = pairs.expected.adapters
    for is_node, one, lower in ((True, "node cable", "node"), (False, "uplink", "switch")):
        total = sum(1 for cable in pairs.expected.cables if (cable.a.device in nodes) == is_node)
        cables = [cable for cable in pairs.wrong if (cable.a.device in nodes) == is_node]
        cables = [cable for cable in cables if cable.a.device not in pairs.expected.optional]
        items = [Item(f"{pairs.words(cable.a)} – {pairs.words(cable.b)}: no link") for cable in cables]
        touched = {cable.a.device for cable in cables}
        every = {cable.a.device for cable in pairs.expected.cables if (cable.a.device in nodes) == is_node}
        lowers = counted(len(every), lower)
        be = "is" if len(items) == 1 else "are"
        headline = f"{len(items):,} of {counted(total, one)} {be} missing on {len(touched):,} of {lowers}"
        hint = "plug in the cable at both ends; if it is, look for its LEDs and replace cable or transceiver"
        yield from grouped("cable-missing", items, headline, hint)
