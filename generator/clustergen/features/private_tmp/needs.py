"""Contributions of private directories to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.contributions import PrivateDirectories, SlurmTopic, Use, WrittenPath
from clustergen.cluster.directories import SQUATTED
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.row import Row
from clustergen.features.private_tmp.resolved import PrivateTmp

PLUGINS = (("NamespaceType", "namespace/tmpfs"), ("JobContainerType", "job_container/tmpfs"))
"""Key and plugin, the newest first."""
STORE = Use(
    "the /tmp of jobs",
    "/var/lib/job_container",
    SQUATTED,
    outlives_boot=False,
    role="slurm-compute",
    is_private=True,
    is_of_jobs=True,
)


def directories(cluster: Cluster) -> Iterator[PrivateDirectories]:
    if spec := cluster.get(PrivateTmp):
        yield PrivateDirectories(spec.directories, "slurm.private_tmp", spec.path)


def keys(cluster: Cluster) -> Iterator[Row]:
    names = (pair for pair in PLUGINS if has_plugin(*pair, cluster.slurm.release))
    for private in directories(cluster):
        for key, plugin in [*names][:1]:
            yield Row(key, plugin, f"each job has its own {private.text}")


def topics(_: Cluster) -> Iterator[SlurmTopic]:
    yield SlurmTopic("slurm.conf", "Private directories of jobs", keys)


def paths(private_tmp: PrivateTmp) -> Iterator[WrittenPath]:
    yield WrittenPath(("slurm", "private_tmp", "path"), private_tmp.path, STORE)
