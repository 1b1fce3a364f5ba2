"""The files that Slurm's daemons read, with what it takes to put a changed one on a node."""

from __future__ import annotations

from functools import partial

from clustergen.cluster.contributions import SpankPlugin
from clustergen.cluster.model import Cluster
from clustergen.render.effects import RECONFIGURE, Effect
from clustergen.render.file import Context, File
from clustergen.render.formats import SLURM
from clustergen.render.slurm_files import configuration
from clustergen.render.views.slurm.conf import slurm_conf
from clustergen.render.views.slurm.gres import gres_conf
from clustergen.render.views.slurm.layout import Sections, sections

_RESTART_SLURMD = Effect("restart-slurmd")


def keys_alone(file: str, cluster: Cluster) -> Sections | None:
    """A file of keys by topic, where some are in effect."""
    parts = sections(cluster, file)
    return Sections(parts) if parts else None


def plugstack(cluster: Cluster) -> Context | None:
    """No `include`: slurmctld hands out no glob in a configless cluster, and no file that only nodes have."""
    plugins = tuple(cluster.needs(SpankPlugin))
    return {"plugins": plugins} if plugins else None


FILES: tuple[File, ...] = (
    *configuration("slurm.conf", slurm_conf, RECONFIGURE, SLURM),
    *configuration("gres.conf", gres_conf, RECONFIGURE, SLURM),
    *configuration("cgroup.conf", partial(keys_alone, "cgroup.conf"), _RESTART_SLURMD, SLURM),
    *configuration("mpi.conf", partial(keys_alone, "mpi.conf"), _RESTART_SLURMD, SLURM),
    *configuration("acct_gather.conf", partial(keys_alone, "acct_gather.conf"), _RESTART_SLURMD, SLURM),
    *configuration("plugstack.conf", plugstack, _RESTART_SLURMD, SLURM),
)
