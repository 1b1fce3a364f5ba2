"""/tmp and /dev/shm of each job's own: the plugin in slurm.conf, and its file job_container.conf."""

from __future__ import annotations

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import PrivateTmp
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
    names = [pair for pair in _NAMES if has_plugin(*pair, cluster.slurm.release)] if cluster.has(PrivateTmp) else []
    rows = [Setting(key, plugin, f"each job has its own {listed(cluster.of(PrivateTmp))}") for key, plugin in names]
    return section("Private directories of jobs", "slurm.conf", cluster.slurm.release, rows[:1])


def listed(spec: PrivateTmp) -> str:
    """`/tmp and /dev/shm`."""
    *others, last = (directory.rstrip("/") for directory in spec.directories)
    return f"{', '.join(others)} and {last}" if others else last


def job_container(cluster: Cluster) -> JobContainer | None:
    if not cluster.has(PrivateTmp):
        return None
    spec = cluster.of(PrivateTmp)
    directories = ",".join(spec.directories) if set(spec.directories) != set(DEFAULT) else ""
    return JobContainer(spec.path.rstrip("/"), listed(spec), directories, spec.shared)


FILES: tuple[File, ...] = configuration("job_container.conf", job_container, Effect("restart-slurmd"), SLURM)
