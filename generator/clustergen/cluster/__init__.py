"""The cluster as meant: the manifest with everything derived and every default filled in; what output is made from."""

from __future__ import annotations

from clustergen.cluster.gpu_set import GpuSet, MigLayout
from clustergen.cluster.model import Cluster, Leaf, NodeGroup, NodeType, Partition, Port, Switch
from clustergen.cluster.resolve import resolve

__all__ = ["Cluster", "GpuSet", "Leaf", "MigLayout", "NodeGroup", "NodeType", "Partition", "Port", "Switch", "resolve"]
