"""Power, space and heat: what the supplies, the racks, their feeds and the room can take."""

from __future__ import annotations

import math
from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeType
from clustergen.diagnostics import Finding
from clustergen.hostlist import expand
from clustergen.manifest.hardware import Circuit, Rack


def draw_w(kind: NodeType) -> int | None:
    """What a node may draw at the wall: its maximum, less what power limits keep its GPUs from taking."""
    if kind.power_max_w is None:
        return None
    saved = 0
    if kind.gpus and kind.gpus.power_limit_w and kind.gpus.model.tdp_w:
        saved = kind.gpus.count * max(0, kind.gpus.model.tdp_w - kind.gpus.power_limit_w)
    return kind.power_max_w - saved


def psu_too_small(cluster: Cluster) -> Iterator[Finding]:
    for kind in cluster.node_types:
        gpus_w = kind.gpus.count * (kind.gpus.power_limit_w or kind.gpus.model.tdp_w or 0) if kind.gpus else 0
        draw = draw_w(kind) or gpus_w
        if not (kind.psus and kind.psu_w and draw):
            continue
        spare = kind.psus_redundant or 0
        supply = (kind.psus - spare) * kind.psu_w
        if spare >= kind.psus:
            yield Finding(
                "psu-redundancy", ("node_types", kind.name, "power"), f"{spare} of {kind.psus} supplies cannot be spare"
            )
        elif draw > supply:
            what = f"{kind.psus} of {kind.psu_w} W" + (f", {spare} of them redundant," if spare else "")
            yield Finding(
                "psu-too-small",
                ("node_types", kind.name, "power"),
                f"a node may draw {_kw(draw)}, but its power supplies ({what}) give {_kw(supply)}",
                "more or larger supplies, or gpus.power_limit" if kind.gpus else "more or larger supplies",
            )


def gpu_power_limit(cluster: Cluster) -> Iterator[Finding]:
    for kind in cluster.node_types:
        gpus = kind.gpus
        if not gpus or gpus.power_limit_w is None:
            continue
        low, high = gpus.model.power_min_w, gpus.model.tdp_w
        if (high and gpus.power_limit_w > high) or (low and gpus.power_limit_w < low):
            span = f"between {low} and {high} W" if low else f"up to {high} W"
            yield Finding(
                "gpu-power-limit",
                ("node_types", kind.name, "gpus", "power_limit"),
                f"{gpus.power_limit_w} W cannot be set on a {gpus.model.nvml_name}: it takes limits {span}",
            )


def gpu_clock(cluster: Cluster) -> Iterator[Finding]:
    for kind in cluster.node_types:
        gpus = kind.gpus
        if (
            gpus
            and gpus.graphics_clock_mhz
            and gpus.model.max_sm_mhz
            and gpus.graphics_clock_mhz > gpus.model.max_sm_mhz
        ):
            yield Finding(
                "gpu-clock",
                ("node_types", kind.name, "gpus", "graphics_clock"),
                f"{gpus.graphics_clock_mhz} MHz is more than a {gpus.model.nvml_name} does: {gpus.model.max_sm_mhz} MHz",
                "say max for the highest",
            )


def circuit_w(circuit: Circuit) -> float:
    """What a feed may carry for hours."""
    return circuit.volts * circuit.amps * (math.sqrt(3) if circuit.phases == 3 else 1) * circuit.derate


def _contents(cluster: Cluster, name: str, rack: Rack) -> tuple[int, int]:
    """Watts and rack units of what stands in a rack; what nobody knows counts nothing."""
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    inside = [kinds[host] for host in (expand(rack.nodes) if rack.nodes else ()) if host in kinds]
    fabric = cluster.manifest.networks.fabric
    switches = [s for s in cluster.switches if fabric and fabric.switches[s.index].rack == name]
    watts = sum(draw_w(kind) or 0 for kind in inside) + sum(switch.power_w or 0 for switch in switches)
    return watts, sum(kind.rack_units for kind in inside) + sum(switch.rack_units for switch in switches)


def rack_checks(cluster: Cluster) -> Iterator[Finding]:
    for name, rack in cluster.manifest.racks.items():
        watts, units = _contents(cluster, name, rack)
        path = ("racks", name)
        if units > rack.units:
            yield Finding("rack-too-low", (*path, "nodes"), f"{units} units are to go into a rack of {rack.units}")
        if rack.power and watts > rack.power.value:
            yield Finding(
                "rack-power",
                (*path, "power"),
                f"what stands in it may draw {_kw(watts)}; {_kw(rack.power.value)} are allowed",
            )
        if rack.cooling and watts > rack.cooling.value:
            yield Finding(
                "rack-cooling", (*path, "cooling"), f"{_kw(watts)} of heat; {_kw(rack.cooling.value)} are taken away"
            )
        feeds = sum(circuit_w(circuit) * circuit.count for circuit in rack.circuits)
        if rack.redundant_feeds:
            feeds /= 2
        if rack.circuits and watts > feeds:
            half = " with one side of the feeds lost" if rack.redundant_feeds else ""
            yield Finding(
                "rack-circuits",
                (*path, "circuits"),
                f"its feeds carry {_kw(feeds)} for hours{half}; what stands in it may draw {_kw(watts)}",
            )


def _kw(watts: float) -> str:
    return f"{watts / 1000:.1f} kW"


RULES = (psu_too_small, gpu_power_limit, gpu_clock, rack_checks)
