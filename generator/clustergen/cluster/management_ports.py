"""Devices with a management port of their own, other than the BMCs of nodes: what the out-of-band network serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clustergen.catalogue.facility import rack_system_of
from clustergen.cluster.catalogue_view import CatalogueView
from clustergen.cluster.model import NodeGroup, Rack, Switch

_DPU = "bluefield"
"""Adapters with a BMC of their own."""


def management_ports(
    view: CatalogueView,
    groups: Sequence[NodeGroup],
    racks: Iterable[Rack],
    switches: Iterable[Switch],
    guests: Iterable[str],
) -> Mapping[str, int]:
    """Kind → devices with one port each; absent where there are none.

    `switches` are those of the other networks, `guests` devices on ports that these reserve.
    """
    counts = dict.fromkeys(_KINDS, 0)
    for switch in switches:
        model = view.switch(switch.model) if switch.model else None
        counts["switches"] += model is None or model.managed
    trays: dict[str, int] = {}
    for group in groups:
        adapters = {
            port.pci.rpartition(".")[0] if port.pci else port.label.rpartition(" ")[0] or port.device
            for port in group.type.ports
            if port.model.startswith(_DPU)
        }
        hosts = 0 if group.is_dynamic else len(group.hosts)
        counts["DPUs"] += len(adapters) * hosts
        if group.type.system and rack_system_of(group.type.system):
            trays[group.type.system] = trays.get(group.type.system, 0) + hosts
    whole = {host for group in groups if group.type.system in trays for host in group.hosts}
    for system, count in trays.items():
        rack = rack_system_of(system)
        if rack:
            number = -(-count // rack.trays)
            counts["NVLink switch trays"] += number * rack.switch_trays
            counts["power shelves"] += number * rack.shelves
    counts["rack PDUs"] = sum(
        circuit.count for rack in racks if whole.isdisjoint(rack.hosts) for circuit in rack.circuits
    )
    counts["devices on reserved ports"] = len(set(guests))
    return {kind: count for kind, count in counts.items() if count}


_KINDS = ("switches", "DPUs", "NVLink switch trays", "power shelves", "rack PDUs", "devices on reserved ports")
