"""The InfiniBand subnet manager: one, and somebody who can be it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import SubnetManager
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.opensm.resolved import OpensmSettings
from clustergen.manifest.networks import Fabric
from clustergen.rules.fabric import not_infiniband, unused_of_fabric


def subnet_manager(cluster: Cluster) -> Iterator[Finding]:
    """Exactly one master in an InfiniBand fabric, and someone who can be it."""
    where = cluster.of(SubnetManager).where if cluster.has(SubnetManager) else None
    path: ManifestPath = ("networks", "fabric", "subnet_manager", "where")
    if where == "node" and not cluster.hosts("subnet-manager"):
        yield Finding(
            "subnet-manager-missing",
            path,
            "no node has the role subnet-manager, so no fabric port becomes active",
            "add the role to one node with a fabric port, or to two for failover",
        )
    elif where == "switch" and not _can_manage(cluster):
        has = "add the role subnet-manager to a node, and "
        yield Finding(
            "subnet-manager-missing",
            path,
            "none of the switches is managed, so none can run the subnet manager",
            f"{'' if cluster.hosts('subnet-manager') else has}set networks.fabric.subnet_manager: {{where: node}}",
        )
    elif where != "node":
        yield from _useless_managers(cluster, where)


def adaptive_routing_absent(cluster: Cluster) -> Iterator[Finding]:
    """Distributions have upstream's opensm, whose engines choose one path for each destination."""
    settings = cluster.get(OpensmSettings)
    if settings is None or not any(switch.uplinks for switch in cluster.switches):
        return
    engines = str(settings.options.get("routing_engine", settings.routing))
    if not any(engine.strip().startswith("ar_") for engine in engines.split(",")):
        yield Finding(
            "adaptive-routing-absent",
            ("networks", "fabric", "subnet_manager"),
            "opensm of a distribution has no adaptive routing: flows that share an uplink stay on it beside idle ones",
            "with NVIDIA's opensm set networks.fabric.opensm_options: {routing_engine: ar_updn}, or set"
            " networks.fabric.subnet_manager: {where: ufm}",
            key=True,
        )


def without_effect(_: Cluster, section: Fabric) -> Iterator[Finding]:
    if why := not_infiniband(section):
        yield from unused_of_fabric(section, ("opensm_options", "subnet_manager"), why)
    elif section.subnet_manager.where != "node":
        why = "opensm runs on no node; set networks.fabric.subnet_manager.where: node"
        yield from unused_of_fabric(section, ("opensm_options", "subnet_manager.routing"), why)


def _can_manage(cluster: Cluster) -> bool:
    """True if some switch is a managed one, or nobody knows."""
    models = [cluster.catalogue.switch(switch.model) if switch.model else None for switch in cluster.switches]
    return not models or any(model is None or model.managed for model in models)


def _useless_managers(cluster: Cluster, where: str | None) -> Iterator[Finding]:
    for group in cluster.with_role("subnet-manager"):
        role: ManifestPath = ("nodes", group.index, "roles", group.roles.index("subnet-manager"))
        if where is None:
            yield Finding(
                "subnet-manager-useless", role, "the cluster has no InfiniBand fabric to manage", "remove the role"
            )
        else:
            runs = "UFM runs the subnet manager" if where == "ufm" else "a switch runs the subnet manager"
            yield Finding(
                "subnet-manager-useless",
                role,
                f"{runs}; a second subnet manager would compete with it",
                "remove the role, or set networks.fabric.subnet_manager: {where: node}",
            )
