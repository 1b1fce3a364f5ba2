"""Tuning and firmware of node types as resolved. What is None or empty is left as the nodes have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from clustergen.cluster.annotations import Unit
from clustergen.cluster.model import Cluster, NodeType
from clustergen.manifest.model import Manifest
from clustergen.manifest.tuning import Tuning as Section
from clustergen.records import copied, record


@record
class Tuning:
    """Settings of kernel and drivers of a node type."""

    governor: str | None  # of CPU frequencies; None: left as it is
    idle_latency_us: int | None
    transparent_hugepages: str | None
    hugepages_1gib: int | None
    iommu: str | None
    kernel_options: tuple[str, ...]
    interrupts: str | None  # None: left as they are
    rings: int | Literal["max"] | None  # descriptors of a port's queues; None: left as they are
    channels: int | None  # pairs of queues of a port; None: left as they are
    max_read_request: Annotated[int | None, Unit("bytes")]
    relaxed_ordering: bool | None


@record
class Tunings:
    """Settings of all node types, those of `service` too."""

    by_type: Mapping[str, Tuning]  # node type → its settings

    def of(self, node_type: NodeType) -> Tuning:
        return self.by_type[node_type.name]


@record
class Firmwares:
    """Settings of firmware that the site decides."""

    by_type: Mapping[str, Mapping[str, str]]  # node type → settings: name in the catalogue → value

    def of(self, node_type: NodeType) -> Mapping[str, str]:
        return self.by_type.get(node_type.name, {})


def resolve_tunings(manifest: Manifest, cluster: Cluster) -> Tunings:
    sections = {node_type.name: Section.model_construct() for node_type in cluster.node_types}
    sections |= {name: kind.tuning for name, kind in manifest.node_types.items()}
    return Tunings({name: _tuning(section) for name, section in sections.items()})


def _tuning(section: Section) -> Tuning:
    return copied(Tuning, section, idle_latency_us=section.idle_latency)


def resolve_firmwares(manifest: Manifest, _: Cluster) -> Firmwares:
    return Firmwares(
        {
            name: {key.replace("_", "-"): value for key, value in kind.firmware if value is not None}
            for name, kind in manifest.node_types.items()
        }
    )
