"""Directories of users, which root creates in the prolog of their jobs."""

from __future__ import annotations

from clustergen.catalogue.system_paths import is_below
from clustergen.cluster.contributions import UserDirectory
from clustergen.cluster.groups import types_in
from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.file import File

AREA = "slurm"
REQUIRES = "slurm"

SOURCE = "slurm/user-directories.sh"


@record
class UserDirectories:
    places: tuple[tuple[str, str], ...]
    """Directory of root, and the name of the user's directory in it: UID and USER stand for the user's."""
    mounts: tuple[tuple[str, str], ...] = ()
    """Directories of root below /run, and options of the tmpfs that each gets."""


def in_jobs(cluster: Cluster, node_type: NodeType) -> UserDirectories | None:
    """Also where the site has a prolog of its own, which can call the script."""
    needs = [each for each in cluster.needs(UserDirectory) if node_type.name in types_in(cluster, each.group)]
    places = tuple((each.directory, each.name) for each in needs if each.name)
    mounts = tuple((each.directory, each.options) for each in needs if is_below(each.directory, "/run"))
    return UserDirectories(places, mounts) if places else None


FILES: tuple[File, ...] = (
    File("slurm_compute/etc/slurm/prolog.d/45-user-directories", in_jobs, per="type", mode=0o755, program=SOURCE),
    File("slurm_compute/etc/clustergen/job-directories.sh", in_jobs, per="type", values=True),
)
