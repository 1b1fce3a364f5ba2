"""Tables of the tree's README.md: racks, and what the nodes draw."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.power import kilowatts, power_text
from clustergen.facility.placement import devices
from clustergen.facility.power import Load, rack_loads
from clustergen.render.views.tables import UNCONFIRMED, marked


def racks(cluster: Cluster) -> Iterator[dict[str, str]]:
    """A row per entry; where it stands for several racks, the power is that of the fullest one."""
    loads: dict[str, list[Load]] = {}
    for one in rack_loads(cluster):
        loads.setdefault(one.rack.entry, []).append(one.load)
    for name, rack in {rack.entry: rack for rack in cluster.racks}.items():
        load = max(loads[name], key=lambda load: load.watts)
        unknown = len(load.without_power)
        total = marked(kilowatts(load.watts), "power" in load.unconfirmed)
        yield {
            "Rack": name,
            "Nodes": rack.entry_nodes,
            "Height": f"{rack.units} U",
            "Maximum power of a rack": f"{total}, unknown for {unknown}" if unknown else total,
            "Rack power limit": str(rack.power or ""),
            "Cooling": str(rack.cooling or ""),
            "Feeds of a rack": ", ".join(f"{c.count} × {c.volts} V {c.amps} A" for c in rack.circuits),
        }


def racks_intro(cluster: Cluster) -> str:
    return UNCONFIRMED if any("power" in one.load.unconfirmed for one in rack_loads(cluster)) else ""


def _counts(cluster: Cluster) -> dict[str, int]:
    counts: dict[str, int] = {}
    for group in cluster.groups:
        counts[group.type.name] = counts.get(group.type.name, 0) + len(group.hosts)
    return counts


def _doubtful(cluster: Cluster) -> set[str]:
    """Node types whose maximum power no source confirms."""
    return {device.type for device in devices(cluster).values() if "power" in device.unconfirmed and device.type}


def power_intro(cluster: Cluster) -> str:
    """The introduction to the sum of power: what it includes, and what it leaves out."""
    counts = _counts(cluster)
    unknown = [f"{counts[k.name]} × {k.name}" for k in cluster.node_types if not k.power_max_w and k.name in counts]
    words = "Maximum wall power of the nodes; switches and storage servers are not included."
    words += f" {UNCONFIRMED}" if _doubtful(cluster) else ""
    return f"{words} Not included because their power is unknown: {', '.join(unknown)}." if unknown else words


def power(cluster: Cluster) -> Iterator[dict[str, str]]:
    counts = _counts(cluster)
    metered = [node_type for node_type in cluster.node_types if node_type.power_max_w and node_type.name in counts]
    if not metered:
        return
    total, doubtful = 0, _doubtful(cluster)
    for node_type in cluster.node_types:
        if node_type.name not in counts:
            continue
        each, is_doubtful = node_type.power_max_w or 0, node_type.name in doubtful
        total += counts[node_type.name] * each
        yield {
            "Type": node_type.name,
            "Count": str(counts[node_type.name]),
            "Each": marked(power_text(each), is_doubtful) if each else "unknown",
            "Total": marked(kilowatts(counts[node_type.name] * each), is_doubtful) if each else "unknown",
        }
    if len(metered) > 1:
        yield {
            "Type": "total of known power",
            "Count": str(sum(counts[node_type.name] for node_type in metered)),
            "Each": "",
            "Total": marked(kilowatts(total), bool(doubtful)),
        }
