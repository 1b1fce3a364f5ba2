"""The cache of data sets: the program for jobs, and the one that cleans."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.storage.local.data_sets_needs import GROUP, PROGRAM
from clustergen.features.storage.local.resolved import caching
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.timers import timed

REQUIRES = "slurm"
TEXTFILE = "data-sets.prom"


@record
class Values:
    """Values of both programs. `size_bytes`: limit of all copies; `days`: after which an unused copy is removed."""

    directory: str
    mount: str
    size_bytes: int
    days: int
    metrics_file: str  # empty: none


def values(cluster: Cluster, os: OperatingSystem) -> Values | None:
    entry = caching(cluster)
    if entry is None or entry.data_sets is None:
        return None
    cache = entry.data_sets
    return Values(cache.directory, entry.mount, cache.size_bytes, cache.days, textfile(cluster, os, TEXTFILE))


def has_cache(cluster: Cluster) -> bool:
    return caching(cluster) is not None


_OF_JOBS = "storage/clustergen-data-set.py"
FILES = (
    *timed(GROUP, f"storage/{PROGRAM}.py", values),
    # Also where no disk has the cache: it prints the source's path there, so that a job runs on all nodes.
    File("slurm_compute/usr/local/bin/clustergen-data-set", has_cache, mode=0o755, program=_OF_JOBS),
)
