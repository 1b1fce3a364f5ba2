"""The InfiniBand subnet manager, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import SubnetManager
from clustergen.manifest.networks import Fabric
from clustergen.records import copied, record


@record
class OpensmSettings:
    """opensm on nodes. Absent: something else is the subnet manager, or the fabric has none."""

    routing: str  # engines in the order in which opensm tries them
    options: Mapping[str, str | int]  # of opensm.conf, in addition to ours


def resolve(section: Fabric, _: Cluster) -> SubnetManager | None:
    return copied(SubnetManager, section.subnet_manager) if section.type == "infiniband" else None


def resolve_settings(section: Fabric, cluster: Cluster) -> OpensmSettings | None:
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type != "infiniband" or section.subnet_manager.where != "node":
        return None
    is_tree = fabric.layout != "single" and any(switch.uplinks for switch in cluster.switches)
    return OpensmSettings(
        section.subnet_manager.routing or ("ftree,updn" if is_tree else "updn"), section.opensm_options
    )


RECORDS = {SubnetManager: resolve, OpensmSettings: resolve_settings}
