"""Contributions of firmware: settings of each node type, and the Redfish attributes that show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.firmware import FirmwareAttribute, FirmwareSetting, attributes, family_of, settings
from clustergen.cluster.contributions import FirmwareItem, FirmwareValue
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.firmware.resolved import Firmwares


def items(cluster: Cluster) -> Iterator[FirmwareItem]:
    """All settings in the catalogue's order, of node types whose hardware is resolved."""
    for node_type in cluster.node_types:
        if node_type.is_resolved:
            yield from _items(cluster, node_type)


def _items(cluster: Cluster, node_type: NodeType) -> Iterator[FirmwareItem]:
    family = family_of(node_type.system)
    stated = cluster.of(Firmwares).of(node_type)
    needs = {need.expect: need.is_on for need in cluster.needs_by_type(FirmwareValue).get(node_type.name, ())}
    for setting in settings().values():
        expected = _expected(setting, node_type, needs)
        if setting.expect == "site":
            expected = stated.get(setting.name, "")
        rows: list[FirmwareAttribute | None] = []
        rows += [row for row in attributes() if family and row.family == family.name and row.setting == setting.name]
        for attribute in rows or [None]:
            yield FirmwareItem(node_type.name, setting, attribute, expected)


def _expected(setting: FirmwareSetting, node_type: NodeType, needs: Mapping[str, bool]) -> str:
    if setting.expect == "threads":
        return _switch(node_type.threads_per_core > 1)
    if setting.expect == "numa":
        return str(node_type.numa_per_socket)
    if setting.expect in needs:
        return _switch(needs[setting.expect])
    return "on" if setting.expect == "on" else ""


def _switch(is_on: bool) -> str:
    return "on" if is_on else "off"
