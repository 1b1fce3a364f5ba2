"""/tmp and /dev/shm of each job's own: the plugin in slurm.conf, and its file job_container.conf."""

from __future__ import annotations

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import Effect
from clustergen.render.file import File
from clustergen.render.formats import SLURM
from clustergen.render.views.slurm.placing import configuration
from clustergen.render.views.slurm.settings import Section, Setting, section

DEFAULT = ("/tmp", "/dev/shm")
"""What the plugin makes private in all releases."""
_NAMES = (("NamespaceType", "namespace/tmpfs"), ("JobContainerType", "job_container/tmpfs"))
"""Key and plugin, the newest first."""


@record
class JobContainer:
    path: str
    directories: str
    """With commas; empty for the plugin's default."""
    shared: bool


def namespace(cluster: Cluster) -> Section:
    why = "each job has its own /tmp and /dev/shm" if cluster.manifest.slurm.private_tmp else ""
    names = (pair for pair in _NAMES if why and has_plugin(*pair, cluster.release))
    rows = [Setting(key, plugin, why) for key, plugin in names]
    return section("Private directories of jobs", "slurm.conf", cluster.release, rows[:1])


def job_container(cluster: Cluster) -> JobContainer | None:
    spec = cluster.manifest.slurm.private_tmp
    if spec is None:
        return None
    directories = ",".join(spec.directories) if set(spec.directories) != set(DEFAULT) else ""
    return JobContainer(spec.path.rstrip("/"), directories, spec.shared)


FILES: tuple[File, ...] = configuration("job_container.conf", job_container, Effect("restart-slurmd"), SLURM)
