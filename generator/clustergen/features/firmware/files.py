"""facility/firmware.md: settings of the firmware to check before a node joins, by node type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue.firmware import FirmwareFamily
from clustergen.cluster.contributions import AdapterSetting, FirmwareItem
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.firmware.resolved import Firmwares
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.views.tables import Table, table_of


@record
class FirmwareSection:
    """One node type. `resource`: path of the attributes at its BMC."""

    title: str
    nodes: str
    resource: str
    is_unconfirmed: bool
    """True: the names were read on another model of the maker."""
    table: Table


@record
class FirmwarePage:
    name: str
    sections: tuple[FirmwareSection, ...]
    adapters: Table


def firmware_page(cluster: Cluster) -> FirmwarePage | None:
    """None without a node type whose attributes the catalogue knows, or stated settings of adapters."""
    firmwares = cluster.of(Firmwares)
    sections = tuple(
        _section(cluster, node_type, family)
        for node_type in cluster.node_types
        if node_type.is_resolved and (family := firmwares.family(node_type)) is not None
    )
    adapters = table_of("", "", _adapter_rows(cluster.needs(AdapterSetting)))
    is_stated = any(firmwares.adapters.values())
    return FirmwarePage(cluster.name, sections, adapters) if sections or is_stated else None


def _adapter_rows(items: Iterable[AdapterSetting]) -> Iterator[dict[str, str]]:
    """Ports of a node type with one value as one row."""
    devices: dict[tuple[str, str, str, str], list[str]] = {}
    for item in items:
        devices.setdefault((item.node_type, item.name, item.value, item.why), []).append(item.device)
    for (node_type, name, value, why), ports in devices.items():
        yield {"Node type": node_type, "Ports": ", ".join(ports), "Setting": name, "Expected": value, "Reason": why}


def _section(cluster: Cluster, node_type: NodeType, family: FirmwareFamily) -> FirmwareSection:
    nodes = ",".join(group.folded for group in cluster.of_type[node_type.name])
    table = table_of("", "", _rows(cluster.needs_by_type(FirmwareItem)[node_type.name]))
    return FirmwareSection(node_type.name, nodes, family.resource, "systems" in family.unverified, table)


def _rows(items: Iterable[FirmwareItem]) -> Iterator[dict[str, str]]:
    for item in items:
        attribute = item.attribute
        marked = bool(item.setting.unverified or (attribute and attribute.unverified))
        value = f"{item.expected} ({item.value})" if item.value not in ("", item.expected) else item.expected
        yield {
            "Setting": item.setting.title,
            "Expected": value or "the site decides",
            "Attribute": attribute.attribute if attribute else "not known",
            "Reason": item.setting.why,
            "Confirmed": "no" if marked else "yes",
        }


FILES = (File("tree/facility/firmware.md", firmware_page),)
