"""Lossless Ethernet on the hosts: trust, PFC, ECN and the mark on RDMA packets."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.networks import Roce
from clustergen.records import record
from clustergen.render.views.fabric.rails import fabric_of

_ECN_CAPABLE = 2


@record
class RoceQos:
    trust: str
    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    traffic_class: int
    pfc: str  # 1 or 0 by priority
    ecn: int  # 1 or 0


def traffic_class(roce: Roce) -> int:
    """The byte that RDMA packets carry: DSCP in the upper six bits, and below it that they may be ECN-marked."""
    return roce.dscp << 2 | (_ECN_CAPABLE if roce.ecn else 0)


def roce_qos(cluster: Cluster) -> RoceQos | None:
    fabric = fabric_of(cluster)
    if fabric is None or fabric.type != "roce":
        return None
    roce = fabric.roce
    return RoceQos(
        trust=roce.trust,
        dscp=roce.dscp,
        priority=roce.priority,
        cnp_dscp=roce.cnp_dscp,
        cnp_priority=roce.cnp_priority,
        traffic_class=traffic_class(roce),
        pfc=",".join("1" if roce.pfc and priority == roce.priority else "0" for priority in range(8)),
        ecn=int(roce.ecn),
    )
