"""Contributions of firmware: settings of each node type, and the Redfish attributes that show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.firmware import FirmwareAttribute, FirmwareSetting, attributes, settings
from clustergen.catalogue.hardware import nic
from clustergen.cluster.contributions import AdapterSetting, FirmwareItem, FirmwareValue, Value, VariableRows
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.firmware.resolved import Firmwares


def items(cluster: Cluster) -> Iterator[FirmwareItem]:
    """All settings in the catalogue's order, of node types whose hardware is resolved."""
    for node_type in cluster.node_types:
        if node_type.is_resolved:
            yield from _items(cluster, node_type)


def adapters(cluster: Cluster) -> Iterator[AdapterSetting]:
    """LINK_TYPE of adapters that have both, by the fabric's type, and what the manifest states of the fabric's ones."""
    fabric = cluster.networks.fabric
    for node_type in cluster.node_types if fabric else ():
        stated = cluster.of(Firmwares).adapters.get(node_type.name, {})
        for port in node_type.fabric_ports():
            model = nic(port.model) if port.model else None
            if fabric and model and model.infiniband and model.ethernet:
                value, why = ("IB", "InfiniBand") if fabric.type == "infiniband" else ("ETH", "Ethernet")
                yield AdapterSetting(node_type.name, port.device, "LINK_TYPE_P1", value, f"the fabric is {why}")
            for name, number in stated.items():
                yield AdapterSetting(node_type.name, port.device, name, str(number), "stated in the manifest")


def variables(cluster: Cluster) -> Iterator[VariableRows]:
    """Settings for the playbook clustergen.cluster.firmware, of node types whose BMCs speak Redfish."""
    network = cluster.networks.bmc
    if network and network.protocol == "redfish":
        rows = [row for kind in cluster.node_types if _has_bmc(cluster, kind) for row in _rows(cluster, kind)]
        comment = "Settings of firmware by group, which the playbook clustergen.cluster.firmware sets on request"
        yield VariableRows("cluster_firmware", comment, tuple(rows))


def _has_bmc(cluster: Cluster, node_type: NodeType) -> bool:
    return any(group.bmc for group in cluster.of_type[node_type.name])


def _rows(cluster: Cluster, node_type: NodeType) -> Iterator[dict[str, Value]]:
    """Stated settings without an attribute or a value as well: the playbook reports them."""
    family = cluster.of(Firmwares).family(node_type)
    for item in cluster.needs_by_type(FirmwareItem).get(node_type.name, ()):
        if item.expected and (item.attribute or item.is_stated):
            attribute = item.attribute
            unverified = bool((attribute and attribute.unverified) or (family and family.unverified))
            yield {
                "group": node_type.group,
                "setting": item.setting.name.replace("-", "_"),
                "attribute": attribute.attribute if attribute else "",
                "value": item.value,
                "stated": item.is_stated,
                "confirmed": not unverified,
            }
    for entry in cluster.of(Firmwares).boot_orders.get(node_type.name, ()):
        yield {"group": node_type.group, "setting": "boot_order", "value": entry, "stated": True, "confirmed": True}


def _items(cluster: Cluster, node_type: NodeType) -> Iterator[FirmwareItem]:
    family = cluster.of(Firmwares).family(node_type)
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
