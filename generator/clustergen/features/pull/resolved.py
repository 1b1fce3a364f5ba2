"""Nodes that bring themselves to the tree, as resolved."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.features.pull import section as manifest
from clustergen.records import copied, record

GROUP = "pull_node"
ANSIBLE, VENV = "ansible-core", "python3-venv"
"""Packages, of which a system has one or the other."""
TEXTFILE = "clustergen-pull.prom"
"""With metrics of the last run, for the node exporter."""


@record
class Pull:
    """Compute nodes fetch the tree from git and apply it to themselves. Absent: none do."""

    repository: str
    branch: str
    directory: str  # of the tree, in the repository
    library: str  # of clustergen, in the repository
    programs: str  # with ansible-pull, on the nodes
    interval_s: int
    max_age_s: int  # of a signed commit that a node without any accepts
    signers: tuple[str, ...]


def resolve(section: manifest.Pull, _: Cluster) -> Pull:
    return copied(Pull, section, interval_s=section.interval, max_age_s=section.max_age)


def installs_itself(os: OperatingSystem) -> bool:
    """True for a system with a package of ansible-core, or with a Python that is new enough for it."""
    return bool({ANSIBLE, VENV} & set(os.fact("package_pull").split()))


RECORDS = {Pull: resolve}
