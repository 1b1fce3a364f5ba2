"""slurm.conf: the keys in effect by topic, then nodes and partitions."""

from __future__ import annotations

from itertools import groupby

from clustergen.cluster.assumptions import of_hardware
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.slurm.keys.nodes import (
    node_lines,
    node_sets,
    own_slurm_lines,
    partition_line,
    spread_ranks,
    weights_derived,
)
from clustergen.records import record
from clustergen.render.formats import Safe, comment_text
from clustergen.render.views.slurm.layout import Section, TypeLines, assumption_text, lines_of, sections


@record
class SlurmConf:
    release: str
    sections: tuple[Section, ...]
    node_sets: tuple[Safe, ...]
    weights_derived: bool
    """True: a Weight is derived, and not the manifest's."""
    spreads_racks: bool
    """True: the Weight rises from node to node of a rack."""
    types: tuple[TypeLines, ...]
    partitions: tuple[Safe, ...]
    lines: tuple[Safe, ...]


def slurm_conf(cluster: Cluster) -> SlurmConf | None:
    if not cluster.slurm.controllers:
        return None
    return SlurmConf(
        release=str(cluster.slurm.release),
        sections=sections(cluster, "slurm.conf"),
        node_sets=lines_of(node_sets(cluster)),
        weights_derived=weights_derived(cluster),
        spreads_racks=bool(spread_ranks(cluster)),
        types=_nodes(cluster),
        partitions=_partitions(cluster),
        lines=lines_of(own_slurm_lines(cluster)),
    )


@once_per_cluster
def _partitions(cluster: Cluster) -> tuple[Safe, ...]:
    return lines_of(partition_line(cluster, partition) for partition in cluster.slurm.partitions)


@once_per_cluster
def _nodes(cluster: Cluster) -> tuple[TypeLines, ...]:
    """In the manifest's order, which is that in which Slurm counts and ranks them."""
    runs = ((kind, list(groups)) for kind, groups in groupby(cluster.compute, key=lambda group: group.type.name))
    return tuple(
        TypeLines(
            comment_text(_title(groups[0].type)),
            lines_of(line for group in groups for line in node_lines(cluster, group)),
            assumption_text(of_hardware(cluster, groups[0].type)),
        )
        for _, groups in runs
    )


def _title(node_type: NodeType) -> str:
    return node_type.name if node_type.title == node_type.name else f"{node_type.name}: {node_type.title}"
