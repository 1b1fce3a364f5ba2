"""Parts of the fabric that are not planned, and links that are slower than planned."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import quote
from clustergen.diagnostics.words import counted, listed
from clustergen.hardware.findings import Group, Item, folded, grouped, unnamed_adapters
from clustergen.hardware.matching import FOREIGN, host_of
from clustergen.hardware.model import SWITCH, End
from clustergen.hardware.names import nic_of
from clustergen.hardware.pairing import Pairing


def slow(pairs: Pairing) -> Iterator[Group]:
    """Links at less than the rate of their cable."""
    links = [
        (cable, link)
        for cable, link in pairs.right
        if cable.gbit is not None and link.gbit is not None and link.gbit < cable.gbit
    ]
    items = [
        Item(
            f"{pairs.words(cable.a)} – {pairs.words(cable.b)} runs at {link.rate}, {link.gbit:g} Gb/s, instead of"
            f" {cable.gbit:g} Gb/s",
            link.line,
        )
        for cable, link in links
    ]
    headline = f"{len(links):,} of {counted(len(pairs.right), 'link')} are slower than planned"
    hint = "check cable and transceiver: a port runs slower or narrower with a bad lane, or where a setting limits it"
    yield from grouped("cable-slow", items, headline, hint)


def unnamed(pairs: Pairing) -> Iterator[Group]:
    """Adapters with the description of the vendor; those that are where the plan has a node's port are that node's."""
    ports: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for end, (other, link) in pairs.seen.items():
        if not pairs.lacks_name(other):
            continue
        cable = pairs.planned.get(end)
        planned = f" ({cable.a.device} {cable.a.port} is planned)" if cable and cable.b == end else ""
        name = pairs.facts.devices[other.device.removeprefix(FOREIGN)].name
        switch = pairs.device_words(end)
        ports.setdefault((switch, name), []).append((end.port + planned, link.line))
        pairs.use(end, other)
    yield from unnamed_adapters(ports)


def foreign_switches(pairs: Pairing) -> Iterator[Group]:
    """Switches that the plan does not have."""
    links: dict[str, list[str]] = {
        device.id: []
        for device in pairs.facts.devices.values()
        if device.kind == SWITCH and device.id not in pairs.matches.switches
    }
    for end, (other, _) in pairs.seen.items():
        if end.device.removeprefix(FOREIGN) in links and not other.device.startswith(FOREIGN):
            links[end.device.removeprefix(FOREIGN)].append(pairs.words(other))
            pairs.use(end, other)
    items = []
    for device_id, ends in links.items():
        device = pairs.facts.devices[device_id]
        joined = f"linked with {listed(ends, 1)}" if ends else ""
        name = quote(device.name or device_id)
        items.append(Item(f"{name} is not in the plan{joined and f': {joined}'}", device.line))
    headline = f"{counted(len(items), 'switch')} are not in the plan"
    hint = "add it to networks.fabric, or take its cables out"
    yield from grouped("switch-unplanned", items, headline, hint)


def unplanned(pairs: Pairing) -> Iterator[Group]:
    """Links that no cable of the plan stands for: nodes that the manifest does not have, and other cables."""
    strangers: dict[str, tuple[int, str]] = {}
    items = []
    for end, (other, link) in pairs.seen.items():
        if end.device.startswith(FOREIGN) or end in pairs.used or other in pairs.used or pairs.lacks_name(other):
            continue  # a link between two devices that are not in the plan is reported with its switch
        if other.device.startswith(FOREIGN):
            nic = nic_of(pairs.facts.devices[other.device.removeprefix(FOREIGN)].name)
            if nic and _is_expected_guest(pairs, nic.host, end):
                pairs.use(end, other)
                continue
            if nic:
                strangers.setdefault(nic.host, (link.line, pairs.words(end)))
                continue
        pairs.use(end, other)
        items.append(Item(f"{pairs.words(end)} is linked with {pairs.words(other)}, which is not planned", link.line))
    nodes = [Item(f"{quote(host)} is linked with {words}", line) for host, (line, words) in strangers.items()]
    headline = f"{counted(len(nodes), 'node')} are not in the manifest: {folded(strangers)}"
    hint = (
        "add the node to the manifest, or correct the host name that its adapters show; name UFM and gateways in"
        " reserved_for of the network's plan, and connect them to a reserved port"
    )
    yield from grouped("fabric-node-unplanned", nodes, headline, hint)
    headline = f"{counted(len(items), 'cable')} are not in the plan"
    yield from grouped("cable-unplanned", items, headline, "take the cable out, or add it to the plan")


def _is_expected_guest(pairs: Pairing, host: str, end: End) -> bool:
    """True if a device for which the plan reserves ports is on a port of such a leaf that no node or uplink has."""
    plan = pairs.expected
    return host_of(host, plan.guests) is not None and end.device in plan.guest_leaves and end not in pairs.planned
