"""Firmware settings of a node type: what they should be, and under which Redfish attribute a BMC shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.firmware import FirmwareAttribute, FirmwareSetting, attributes, family_of, settings
from clustergen.cluster.contributions import FirmwareValue
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.firmware.resolved import Firmwares
from clustergen.records import record


@record
class FirmwareItem:
    """One setting. `expected`: on, off or a number; empty if the site decides. `attribute`: None if it is not known."""

    setting: FirmwareSetting
    attribute: FirmwareAttribute | None
    expected: str

    @property
    def value(self) -> str:
        """The attribute's value for it; empty where the catalogue has none."""
        if self.attribute is None:
            return ""
        return self.attribute.values.get(self.expected, self.expected if self.is_stated else "")

    @property
    def is_stated(self) -> bool:
        """True if the manifest states the value, which may then be one that the catalogue does not know."""
        return self.setting.expect == "site" and self.expected != ""

    def differs(self, value: str) -> bool:
        """True if a value of the attribute has another meaning; one that the catalogue does not know has none."""
        if self.is_stated:
            return value != self.value
        meaning = self.attribute.meaning(value) if self.attribute else ""
        return bool(meaning and self.value) and meaning != self.expected


def checklist(cluster: Cluster, node_type: NodeType) -> Iterator[FirmwareItem]:
    """All settings in the catalogue's order, for a node type whose hardware is resolved."""
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
            yield FirmwareItem(setting, attribute, expected)


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
