"""Contributions of the cache of data sets to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, Group, GuidePart, SafeWriter, TaskVariable, UserDirectory
from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.storage.local.resolved import caching

REQUIRES = "slurm"
GROUP = "data_sets"
PROGRAM = "clustergen-data-sets"
METRICS = ("clustergen_data_sets_bytes", "clustergen_data_sets_limit_bytes")


def groups(cluster: Cluster) -> Iterator[Group]:
    if entry := caching(cluster):
        compute = tuple(group for group in clients_of(cluster, entry.name) if group.has("slurm-compute"))
        yield Group(GROUP, compute)


def directories(cluster: Cluster) -> Iterator[UserDirectory]:
    if (entry := caching(cluster)) and entry.data_sets:
        yield UserDirectory(entry.data_sets.directory, "UID", group=GROUP)


def variables(cluster: Cluster) -> Iterator[TaskVariable]:
    if (entry := caching(cluster)) and entry.data_sets:
        yield TaskVariable("DATA_SET_CACHE", f"{entry.data_sets.directory}/UID", GROUP)


def exported(cluster: Cluster) -> Iterator[Exported]:
    if caching(cluster) and cluster.has(NodeExporter):
        yield Exported(METRICS)


def writers(cluster: Cluster) -> Iterator[SafeWriter]:
    if caching(cluster) and cluster.has(NodeExporter):
        yield SafeWriter(PROGRAM)


def guide(cluster: Cluster) -> Iterator[GuidePart]:
    if (entry := caching(cluster)) and entry.data_sets:
        yield GuidePart(
            "Data sets on the node's disk",
            (
                "`clustergen-data-set` copies a data set to the disk of the node, once for all of your jobs there, and "
                "prints the path of the copy. Without room it prints the path that you gave.",
            ),
            ("data=$(clustergen-data-set /path/of/the/data)", 'python train.py --data "$data"'),
            (
                "In a job of several nodes, run it on each: `srun --ntasks-per-node=1 clustergen-data-set PATH`. A "
                "copy follows no changes of files in it: write another release of the data to another path. What no "
                f"job asked for in {entry.data_sets.days} days is removed.",
            ),
        )
