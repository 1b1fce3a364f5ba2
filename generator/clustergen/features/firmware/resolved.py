"""Settings of firmware as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.catalogue.firmware import FamilyName, FirmwareFamily, family_of
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.firmware import section as manifest
from clustergen.records import record


@record
class Firmwares:
    """Settings of firmware that the site decides."""

    by_type: Mapping[str, Mapping[str, str]]  # node type → settings: name in the catalogue → value
    adapters: Mapping[str, Mapping[str, int]]  # node type → settings of the fabric's adapters: name → value
    boot_orders: Mapping[str, tuple[str, ...]]  # node type → aliases or patterns of names, first one first
    families: Mapping[str, FamilyName]  # node type → the stated one

    def of(self, node_type: NodeType) -> Mapping[str, str]:
        return self.by_type.get(node_type.name, {})

    def family(self, node_type: NodeType) -> FirmwareFamily | None:
        """The stated family, or that of the system; None where the catalogue knows none."""
        return family_of(node_type.system, self.families.get(node_type.name))


def resolve(section: Mapping[str, manifest.Firmware], _: Cluster) -> Firmwares:
    return Firmwares(
        {
            name: {
                key.replace("_", "-"): value for key, value in firmware if isinstance(value, str) and key != "family"
            }
            for name, firmware in section.items()
        },
        {
            name: {str(key): value for key, value in firmware.adapters.items()}
            for name, firmware in section.items()
            if firmware.adapters
        },
        {name: firmware.boot_order for name, firmware in section.items() if firmware.boot_order},
        {name: firmware.family for name, firmware in section.items() if firmware.family},
    )


RECORDS = {Firmwares: resolve}
