"""Devices, racks and power feeds in the columns that NetBox imports, and its device types."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.netbox import power_connectors
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster, Rack
from clustergen.facility.placement import devices, fixtures, switches_of
from clustergen.facility.power import FeedLoad, feed_loads, rack_loads
from clustergen.features.facility.csv_table import CsvTable, csv_table
from clustergen.features.facility.device_types import device_types
from clustergen.render.file import Context

_DEVICES = ("name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face")
_RACKS = ("site", "name", "status", "width", "u_height", "description")
_FEEDS = (
    *("site", "power_panel", "rack", "name", "status", "type", "supply", "phase"),
    *("voltage", "amperage", "max_utilization", "description"),
)


def devices_csv(cluster: Cluster) -> CsvTable | None:
    """None where nothing has a place and nothing is cabled."""
    return csv_table(_DEVICES, _device_rows(cluster)) if cluster.racks or switches_of(cluster) else None


def racks_csv(cluster: Cluster) -> CsvTable | None:
    rows = ((cluster.name, rack.name, "planned", 19, rack.units, _standing(rack)) for rack in cluster.racks)
    return csv_table(_RACKS, rows) if cluster.racks else None


def power_feeds_csv(cluster: Cluster) -> CsvTable | None:
    return csv_table(_FEEDS, _feed_rows(cluster)) if any(rack.circuits for rack in cluster.racks) else None


def device_type_yaml(cluster: Cluster) -> dict[str, Context] | None:
    """By manufacturer and slug, as NetBox's library has its files."""
    if not cluster.racks and not switches_of(cluster):
        return None
    connectors = power_connectors()
    return {
        f"{kind.manufacturer}/{kind.slug}": {
            "device_type": kind,
            "power_port": connectors[kind.inlet].netbox_port if kind.inlet in connectors else "",
        }
        for kind in device_types(cluster).values()
    }


def _device_rows(cluster: Cluster) -> Iterator[tuple[object, ...]]:
    types = device_types(cluster)
    roles = {host: (group.roles or ("node",))[0] for group in cluster.groups for host in group.hosts}
    for network, switches in switches_of(cluster).items():
        roles |= {switch.name: f"{network}-switch" for switch in switches}
    for name, device in devices(cluster).items():
        kind, place = types[name], device.place
        rack = (place.rack, place.unit, "front") if place else (None, None, None)
        yield name, roles[name], kind.manufacturer, kind.model, "planned", cluster.name, *rack
    for part in (part for parts in fixtures(cluster).values() for part in parts):
        kind, role = types[part.name], "nvlink-switch" if part.kind == "switch" else "power-shelf"
        rack = (part.rack, part.place.unit, "front") if part.place else (None, None, None)
        yield part.name, role, kind.manufacturer, kind.model, "planned", cluster.name, *rack


def _standing(rack: Rack) -> str:
    row = f"row {rack.row}, " if rack.row else ""
    return f"{row}position {rack.position}"


def _feed_rows(cluster: Cluster) -> Iterator[tuple[object, ...]]:
    """Feeds of side B come from a panel of their own."""
    factor = cluster.of(Facility).power_factor
    for rack, load in ((each.rack, each.load) for each in rack_loads(cluster)):
        for feed_load in feed_loads(rack, load.watts, factor):
            feed = feed_load.feed
            circuit = feed.circuit
            yield (
                cluster.name,
                f"{cluster.name}-{feed.side or 'A'}",
                rack.name,
                f"{rack.name}-{feed.name}",
                "planned",
                "redundant" if feed.side == "B" else "primary",
                "ac",
                "three-phase" if circuit.phases == 3 else "single-phase",
                circuit.volts,
                circuit.amps,
                round(circuit.derate * 100),
                _load(feed_load, factor, is_known=not load.without_power),
            )


def _load(feed: FeedLoad, factor: float, *, is_known: bool) -> str:
    """Percentages are of what the feed carries for hours; NetBox counts only what its own cables connect."""
    if not feed.normal_w:
        return ""
    limit = feed.feed.continuous_va * factor
    alone = f"; {feed.failed * 100:.0f} % if the other side fails" if feed.failed is not None else ""
    bound = "" if is_known else "at least "
    return f"{bound}{feed.normal_w:.0f} W of {limit:.0f} W ({feed.normal * 100:.0f} %){alone}"
