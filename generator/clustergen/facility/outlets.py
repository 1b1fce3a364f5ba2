"""Power supplies and the outlets that their cords need: by device, by rack and side, against the PDUs of the feeds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from clustergen.catalogue.facility import pdus
from clustergen.catalogue.netbox import power_connectors
from clustergen.cluster.model import Circuit, Cluster, Rack, once_per_cluster
from clustergen.facility.placement import devices, switches_of
from clustergen.facility.power import Feed, feeds
from clustergen.records import record

_HIGHEST_OUTLET_V = 240
"""Three-phase PDUs up to this line-to-line voltage have outlets between two phases, others from phase to neutral."""


@record
class Supplies:
    """The power supplies of a device, one cord each. Empty text or None: not known."""

    count: int
    inlet: str = ""
    redundant: int | None = None  # of them, so many may fail at full load
    volts: tuple[int, int] | None = None


@record
class Outlets:
    """Outlets of one type on one side of a rack's feeds; `side` is empty without redundant feeds."""

    side: str
    type: str
    used: int
    available: int | None  # None: not stated for every feed of the side


@once_per_cluster
def supplies(cluster: Cluster) -> Mapping[str, Supplies]:
    """Device → its supplies, for devices that have any. Machines that are started on demand are none."""
    view = cluster.catalogue
    several: dict[str, Supplies] = {}
    for node_type in cluster.node_types:
        base = view.system(node_type.system) if node_type.system else None
        psu = base.psu if base else None
        if node_type.psus:
            one = Supplies(
                node_type.psus, psu.inlet if psu else "", node_type.psus_redundant, psu.volts if psu else None
            )
            for group in cluster.of_type[node_type.name]:
                if not group.is_dynamic:
                    several |= dict.fromkeys(group.hosts, one)
    for switches in switches_of(cluster).values():
        for switch in switches:
            model = view.switch(switch.model) if switch.model else None
            if model and model.psu_count:
                several[switch.name] = Supplies(model.psu_count, model.inlet)
    return several


def cords(cluster: Cluster) -> Counter[str]:
    """Power supplies of all devices by inlet; an empty inlet is not known."""
    counts: Counter[str] = Counter()
    for one in supplies(cluster).values():
        counts[one.inlet] += one.count
    return counts


def outlet_volts(circuit: Circuit) -> float:
    """The voltage of an outlet on that feed."""
    if circuit.phases == 1 or circuit.volts <= _HIGHEST_OUTLET_V:
        return float(circuit.volts)
    return circuit.volts / math.sqrt(3)


def stated_outlets(circuit: Circuit) -> Mapping[str, int] | None:
    """Outlets of the feed's PDU by type; None where neither they nor a known model are stated."""
    if circuit.outlets:
        return {str(name): count for name, count in circuit.outlets.items()}
    pdu = pdus().get(circuit.pdu or "")
    return pdu.outlets if pdu else None


def rack_outlets(cluster: Cluster, rack: Rack) -> Iterator[Outlets]:
    """Outlets by side and type. With redundant feeds, supplies are divided among the sides, an odd one to side A."""
    needs = _needs(cluster).get(rack.name) or Counter()
    by_side: dict[str, list[Feed]] = {}
    for feed in feeds(rack):
        by_side.setdefault(feed.side, []).append(feed)
    for side, of_side in by_side.items():
        used: Counter[str] = Counter()
        for (name, count), number in needs.items():
            used[name] += number * (count if not side else -(-count // 2) if side == "A" else count // 2)
        stated = [stated_outlets(feed.circuit) for feed in of_side]
        for name in sorted(used):
            available = None if None in stated else sum(one.get(name, 0) for one in stated if one)
            yield Outlets(side, name, used[name], available)


@once_per_cluster
def _needs(cluster: Cluster) -> Mapping[str, Counter[tuple[str, int]]]:
    """Rack → devices by type of outlet and number of supplies."""
    connectors = power_connectors()
    placed = devices(cluster)
    needs: dict[str, Counter[tuple[str, int]]] = {}
    for name, one in supplies(cluster).items():
        rack = placed[name].rack
        if rack is not None and one.inlet in connectors:
            needs.setdefault(rack, Counter())[connectors[one.inlet].outlet, one.count] += 1
    return needs
