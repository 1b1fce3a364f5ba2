"""Settings that have no effect in this cluster because nothing reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.base import Section
from clustergen.manifest.hardware import NodeType


def unused(section: Section, path: ManifestPath, names: Iterable[str], why: str, hint: str) -> Iterator[Finding]:
    """A finding per field of `names` that the manifest sets."""
    for name in names:
        if name in section.model_fields_set:
            yield Finding("setting-unused", (*path, name), f"{name} has no effect: {why}", hint, key=True)


def gpus(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Settings of GPUs that node types do not have; `count: 0` says so itself."""
    for node_type in cluster.node_types:
        if node_type.is_resolved and not node_type.gpus:
            stated = section[node_type.name].gpus
            names = sorted(stated.model_fields_set - {"count", "model"})
            hint = "add gpus.model and gpus.count, or a system that has GPUs"
            why = f"node type '{node_type.name}' has no GPUs"
            yield from unused(stated, ("node_types", node_type.name, "gpus"), names, why, hint)
