"""Tuning of node types as resolved. What is None or empty is left as the nodes have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from clustergen.cluster.annotations import Unit
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.tuning import section as manifest
from clustergen.records import copied, record


@record
class Tuning:
    """Settings of kernel and drivers of a node type."""

    governor: str | None  # of CPU frequencies; None: left as it is
    idle_latency_us: int | None
    transparent_hugepages: str | None
    hugepages_1gib: int | None
    iommu: str | None
    page_size: str | None  # of memory: 64k; None: that of the kernel that is installed
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


def resolve(section: Mapping[str, manifest.Tuning], cluster: Cluster) -> Tunings:
    sections = {node_type.name: manifest.Tuning.model_construct() for node_type in cluster.node_types} | dict(section)
    return Tunings({name: copied(Tuning, each, idle_latency_us=each.idle_latency) for name, each in sections.items()})


RECORDS = {Tunings: resolve}
