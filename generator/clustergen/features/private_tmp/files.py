"""/tmp and /dev/shm of each job's own: job_container.conf, the file of the plugin."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.private_tmp.needs import directories
from clustergen.features.private_tmp.resolved import PrivateTmp
from clustergen.records import record
from clustergen.render.effects import Effect
from clustergen.render.file import File
from clustergen.render.formats import SLURM
from clustergen.render.slurm_files import configuration

DEFAULT = ("/tmp", "/dev/shm")
"""Directories that the plugin makes private in all releases."""


@record
class JobContainer:
    path: str
    listed: str
    """All directories, in words."""
    directories: str
    """With commas; empty for the plugin's default."""
    shared: bool


def job_container(cluster: Cluster, spec: PrivateTmp) -> JobContainer:
    (private,) = directories(cluster)
    stated = ",".join(spec.directories) if set(spec.directories) != set(DEFAULT) else ""
    return JobContainer(spec.path.rstrip("/"), private.text, stated, spec.shared)


FILES: tuple[File, ...] = configuration("job_container.conf", job_container, Effect("restart-slurmd"), SLURM)
