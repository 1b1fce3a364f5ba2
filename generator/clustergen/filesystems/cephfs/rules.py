"""CephFS: the servers that clients have to reach."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.filesystems.cephfs.model import Cephfs
from clustergen.hostlist.addresses import host_of


def reached(_: Cluster, __: NodeGroup, entry: Cephfs) -> list[str]:
    return [host_of(monitor) for monitor in entry.monitors]


RULES = ()
