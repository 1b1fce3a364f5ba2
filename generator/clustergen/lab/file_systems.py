"""File systems of a lab: directories that stand for them, and those that containers mount."""

from __future__ import annotations

from collections.abc import Collection

from clustergen.cluster.entry import Entry
from clustergen.cluster.exports import serves
from clustergen.cluster.file_system import file_system, file_systems
from clustergen.cluster.groups import mounts_entry
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import ClustergenError, did_you_mean
from clustergen.render.unit_names import mount_unit


def replaced(cluster: Cluster, real: Collection[str] = ()) -> dict[str, str]:
    """Name → mount point of those that directories replace: all but `real`, which the nodes mount."""
    entries = cluster.storage.items()
    mounted = {name for name, entry in entries if any(_shows(cluster, group, entry) for group in cluster.groups)}
    return {name: entry.mount for name, entry in entries if name in mounted.difference(real)}


def _shows(cluster: Cluster, group: NodeGroup, entry: Entry) -> bool:
    """True if the nodes of a group have an entry at its mount point: clients, and a server that is one by its role."""
    return mounts_entry(cluster, group, entry.name) or (serves(cluster, group, entry) and group.is_client(entry))


def without(cluster: Cluster, real: Collection[str]) -> dict[str, list[str] | bool | int]:
    """Variables of Ansible: what nodes are without where directories replace all file systems but `real`."""
    declared = replaced(cluster, real)
    units = [str(mount_unit(mount)) for mount in declared.values()]
    units += [f"clustergen-*-{name}.service" for name in declared]
    kinds = file_systems()
    entries = cluster.storage
    awaited = [name for name in declared if file_system(entries[name].type).ready_unit]
    chosen = [entries[name] for name in real]
    needed = {purpose for entry in chosen for _, purpose in entry.packages}
    unused = (purpose for kind in kinds for purpose in kind.lab_packages if purpose not in needed)
    return {
        "cluster_without_units": [*units, *(unit for kind in kinds for unit in kind.lab_units)],
        # systemd finds the shared directories mounted, and needs no units for that.
        "cluster_without_files": [
            *(f"/etc/systemd/system/{unit}" for unit in units),
            *(file for kind in kinds for file in kind.lab_files),
            # slurmd does not wait for what no daemon mounts here.
            *(f"/etc/systemd/system/slurmd.service.d/40-mount-{name}.conf" for name in awaited),
        ],
        "cluster_without_packages": ["kernel_headers", *unused],
        "install_storage": False,
    }


def shared_directories(cluster: Cluster, real: Collection[str] = ()) -> dict[str, list[tuple[str, str]]]:
    """Host → (directory, mount point) of what stands for file systems.

    A local disk's directory is the node's own, and a server's is where it serves it too.
    """
    directories: dict[str, list[tuple[str, str]]] = {}
    for name, mount in replaced(cluster, real).items():
        entry = cluster.storage[name]
        for group in cluster.groups:
            places = [mount] if _shows(cluster, group, entry) else []
            if (exported := entry.exported()) and serves(cluster, group, entry):
                places.append(exported.path)
            for host in group.hosts:
                directory = f"{name}@{host}" if not entry.is_shared else name
                directories.setdefault(host, []).extend((directory, place) for place in dict.fromkeys(places))
    return directories


def require_mountable(cluster: Cluster, names: Collection[str]) -> None:
    """Raises ClustergenError with exit code 2 where a file system is unknown, or requires a kernel module."""
    for name in names:
        entry = cluster.storage.get(name)
        if entry is None:
            hint = did_you_mean(name, cluster.storage) or "name an entry of storage"
            raise ClustergenError(f"--mount {name}: the manifest has no such file system", hint, 2)
        if not entry.is_mountable_in_lab:
            raise ClustergenError(
                f"--mount {name}: a container cannot mount it",
                "only CephFS with mounter: fuse needs no kernel module",
                2,
            )
