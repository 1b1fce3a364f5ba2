"""slurm.conf: the plugin that gives each job a /tmp of its own, by the name that the release has for it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import PrivateTmp
from clustergen.cluster.slurm.keys.row import Row

_NAMES = (("NamespaceType", "namespace/tmpfs"), ("JobContainerType", "job_container/tmpfs"))
"""Key and plugin, the newest first."""


def namespace(cluster: Cluster) -> Iterator[Row]:
    if cluster.has(PrivateTmp):
        names = (pair for pair in _NAMES if has_plugin(*pair, cluster.slurm.release))
        for key, plugin in [*names][:1]:
            yield Row(key, plugin, f"each job has its own {listed(cluster.of(PrivateTmp))}")


def listed(spec: PrivateTmp) -> str:
    """`/tmp and /dev/shm`."""
    *others, last = (directory.rstrip("/") for directory in spec.directories)
    return f"{', '.join(others)} and {last}" if others else last
