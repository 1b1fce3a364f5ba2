"""/tmp and /dev/shm of each job's own: the plugin in slurm.conf, and its file job_container.conf."""

from __future__ import annotations

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.model import Cluster
from clustergen.manifest.slurm_jobs import PrivateTmp
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
    listed: str
    """All directories, in words."""
    directories: str
    """With commas; empty for the plugin's default."""
    shared: bool


def namespace(cluster: Cluster) -> Section:
    spec = cluster.manifest.slurm.private_tmp
    names = (pair for pair in _NAMES if spec and has_plugin(*pair, cluster.release))
    rows = [Setting(key, plugin, f"each job has its own {listed(spec)}") for key, plugin in names if spec]
    return section("Private directories of jobs", "slurm.conf", cluster.release, rows[:1])


def listed(spec: PrivateTmp) -> str:
    """`/tmp and /dev/shm`."""
    *others, last = (directory.rstrip("/") for directory in spec.directories)
    return f"{', '.join(others)} and {last}" if others else last


def job_container(cluster: Cluster) -> JobContainer | None:
    spec = cluster.manifest.slurm.private_tmp
    if spec is None:
        return None
    directories = ",".join(spec.directories) if set(spec.directories) != set(DEFAULT) else ""
    return JobContainer(spec.path.rstrip("/"), listed(spec), directories, spec.shared)


FILES: tuple[File, ...] = configuration("job_container.conf", job_container, Effect("restart-slurmd"), SLURM)
