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
    """Compute nodes fetch the tree from git and apply it to themselves. Absent: none do.

    `directory`, `library`: in the repository, of the tree and of clustergen; `programs`: on the nodes, with
    ansible-pull. `max_age_seconds`: of a signed commit that a node without any accepts.
    """

    repository: str
    branch: str
    directory: str
    library: str
    programs: str
    interval_seconds: int
    max_age_seconds: int
    signers: tuple[str, ...]


def resolve(section: manifest.Pull, _: Cluster) -> Pull:
    return copied(Pull, section, interval_seconds=section.interval, max_age_seconds=section.max_age)


def installs_itself(os: OperatingSystem) -> bool:
    """True for a system with a package of ansible-core, or with a Python that is new enough for it."""
    return bool({ANSIBLE, VENV} & set(os.fact("package_pull").split()))


RECORDS = {Pull: resolve}
