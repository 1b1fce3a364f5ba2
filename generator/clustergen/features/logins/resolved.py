"""Who may log in to compute nodes, as resolved."""

from __future__ import annotations

from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.manifest.host import Host


def resolve(section: Host, cluster: Cluster) -> NodeLogins:
    return NodeLogins(section.ssh_adopt and cluster.has(Slurm), section.admin_group)


RECORDS = {NodeLogins: resolve}
