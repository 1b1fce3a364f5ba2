"""Settings of firmware as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.firmware import section as manifest
from clustergen.records import record


@record
class Firmwares:
    """Settings of firmware that the site decides."""

    by_type: Mapping[str, Mapping[str, str]]  # node type → settings: name in the catalogue → value

    def of(self, node_type: NodeType) -> Mapping[str, str]:
        return self.by_type.get(node_type.name, {})


def resolve(section: Mapping[str, manifest.Firmware], _: Cluster) -> Firmwares:
    return Firmwares(
        {
            name: {key.replace("_", "-"): value for key, value in firmware if value is not None}
            for name, firmware in section.items()
        }
    )


RECORDS = {Firmwares: resolve}
