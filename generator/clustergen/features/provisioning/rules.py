"""Nodes that a server boots over the network: known to it, and without state that a boot would lose."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import exports_on, targets_on
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.features.provisioning.resolved import Provisioning
from clustergen.manifest.nodes import Nodes

_STATEFUL = ("slurm-controller", "slurm-accounting", "monitoring", "log-collector", "nfs-server")


def provisioned(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Entries whose nodes the server boots."""
    images = cluster.of(Provisioning).images if cluster.has(Provisioning) else ()
    return tuple(group for group in cluster.groups if group.type.name in images)


def provisioning_type_unknown(cluster: Cluster) -> Iterator[Finding]:
    used = [node_type.name for node_type in cluster.node_types]
    for name in cluster.of(Provisioning).images if cluster.has(Provisioning) else ():
        if name not in used:
            yield Finding(
                "provisioning-type-unknown",
                ("provisioning", "images", name),
                f"no node is of type '{name}'",
                did_you_mean(name, used) or f"use {one_of(used)}",
            )


def provisioning_name_reserved(cluster: Cluster, spec: Provisioning) -> Iterator[Finding]:
    """Profiles and overlays of the tree are CLUSTER.NAME; the server's have other names."""
    for key, names in (("profiles", spec.profiles), ("overlays", spec.overlays or ())):
        for index, name in enumerate(names):
            if name.startswith(f"{cluster.name}."):
                yield Finding(
                    "provisioning-name-reserved",
                    ("provisioning", key, index),
                    f"'{name}' has a name of the tree's {key}, which begin with '{cluster.name}.'",
                    f"rename it on the server, as {name.replace('.', '-')}",
                )


def provisioning_incomplete(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[Finding]:
    """The server knows a machine by its MAC address, and tells it its IP address."""
    for group in provisioned(cluster):
        path: ManifestPath = ("nodes", group.index)
        if not section[group.index].macs:
            yield Finding(
                "provisioning-incomplete",
                path,
                f"{group.folded} boots over the network without a MAC address, by which Warewulf knows a machine",
                'add macs: ["04:3f:72:aa:00:01", …], one per name',
            )
        if not section[group.index].address:
            yield Finding(
                "provisioning-incomplete",
                path,
                f"{group.folded} boots over the network without a management address, which Warewulf assigns",
                "add address, one per name",
            )


def provisioning_loses_state(cluster: Cluster) -> Iterator[Finding]:
    """Warewulf's root file system is in memory."""
    for group in provisioned(cluster):
        reasons = [role for role in _STATEFUL if group.has(role)]
        reasons += [f"server of '{name}'" for name in {**targets_on(cluster, group), **exports_on(cluster, group)}]
        if reasons:
            yield Finding(
                "provisioning-loses-state",
                ("nodes", group.index),
                f"{group.folded} boots an image into memory, and keeps state on disk: {', '.join(reasons)}",
                "give these nodes a type without an image, and install them",
            )
