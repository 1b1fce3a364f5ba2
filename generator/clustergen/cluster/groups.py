"""Ansible's groups: all, one per role, those that roles make together, per storage entry and node type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from clustergen.cluster.builds import has_sackd
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.nfs import serves
from clustergen.filesystems import file_system, file_systems
from clustergen.filesystems.descriptor import Scope
from clustergen.manifest.nodes import Role
from clustergen.manifest.storage import Storage

SLURM_ROLES = ("slurm-controller", "slurm-compute", "login")
ENTRY_SCOPES: tuple[Scope, ...] = get_args(Scope)  # scopes that stand for a group per storage entry
ROLES: tuple[str, ...] = get_args(Role)


def group_name(name: str) -> str:
    """Ansible takes letters, digits and underscores."""
    return name.replace("-", "_").replace(".", "_")


def entry_group(scope: str, storage: str) -> str:
    """The group of a storage entry: `mount_home` for its clients, `export_home` for its NFS server,
    `serve_home` for the servers of its targets.
    """
    return f"{scope}_{group_name(storage)}"


def mount_group(storage: str) -> str:
    return entry_group("mount", storage)


def mounts(cluster: Cluster, group: NodeGroup) -> dict[str, Storage]:
    """Storage entries that the nodes of a group mount."""
    return {name: entry for name, entry in cluster.manifest.storage.items() if mounts_entry(cluster, group, name)}


def mounts_entry(cluster: Cluster, group: NodeGroup, name: str) -> bool:
    """Whether the nodes of a group mount a storage entry; a server does not mount its own export."""
    entry = cluster.manifest.storage[name]
    return any(group.has(role) for role in entry.clients) and not serves(cluster, group, entry)


def serves_targets(group: NodeGroup, entry: Storage) -> bool:
    """Whether targets of the entry are created on a node of the group."""
    return not set(group.hosts).isdisjoint(file_system(entry.type).servers(entry))


def _derived(cluster: Cluster, mounted: Mapping[int, Mapping[str, Storage]]) -> dict[str, Callable[[NodeGroup], bool]]:
    def slurm_node(group: NodeGroup) -> bool:
        return any(group.has(role) for role in SLURM_ROLES)

    def gpu_node(group: NodeGroup) -> bool:
        return group.type.gpus is not None and group.has("slurm-compute")

    def fabric_node(group: NodeGroup) -> bool:
        return cluster.manifest.networks.fabric is not None and bool(group.type.fabric_ports())

    def client(kind: str) -> Callable[[NodeGroup], bool]:
        return lambda group: any(entry.type == kind for entry in mounted[group.index].values())

    def server(kind: str) -> Callable[[NodeGroup], bool]:
        entries = [entry for entry in cluster.manifest.storage.values() if entry.type == kind]
        return lambda group: any(serves_targets(group, entry) for entry in entries)

    def sackd_node(group: NodeGroup) -> bool:
        served = group.has("slurm-controller") or group.has("slurm-compute")  # by their own file, or by slurmd
        is_needed = cluster.manifest.slurm.configless and group.has("login")
        return is_needed and not served and has_sackd(cluster, group.type.os)

    def slurm_conf_server(group: NodeGroup) -> bool:
        alone = group.has("login") and not group.has("slurm-compute") and not sackd_node(group)
        return cluster.manifest.slurm.configless and (group.has("slurm-controller") or alone)

    def compute_only(group: NodeGroup) -> bool:
        return group.has("slurm-compute") and not group.has("login") and not group.has("slurm-controller")

    def pull_node(group: NodeGroup) -> bool:
        """Nodes that nobody else depends on, so that each can change on its own."""
        if cluster.manifest.ansible.pull is None or group.roles != ("slurm-compute",):
            return False
        return not any(serves_targets(group, entry) for entry in cluster.manifest.storage.values())

    entrance = next((role for role in ("login", "slurm-controller") if cluster.hosts(role)), "slurm-compute")

    def user_node(group: NodeGroup) -> bool:
        return cluster.manifest.user_guide is not None and group.has(entrance)

    runtimes = cluster.manifest.containers

    def runs(*names: str) -> Callable[[NodeGroup], bool]:
        roles = {role for name in names if (spec := getattr(runtimes, name)) for role in spec.roles}
        return lambda group: any(group.has(role) for role in roles)

    docker, podman = runs("docker"), runs("podman")

    return {
        "user_node": user_node,  # where users log in
        "cloud": lambda group: group.is_dynamic,  # site.yml leaves these out unless they are named
        "slurm_node": slurm_node,
        "slurm_conf_server": slurm_conf_server,  # has slurm.conf itself although the cluster is configless
        "sackd_node": sackd_node,
        "compute_only": compute_only,
        "pull_node": pull_node,
        "gpu_node": gpu_node,
        "docker_node": docker,
        "podman_node": podman,
        "apptainer_node": runs("apptainer"),
        "registry_client": runs("podman", "apptainer"),  # they read registries.conf
        "cdi_node": lambda group: gpu_node(group) and (docker(group) or podman(group)),
        "fabric_node": fabric_node,
        **{fs.client_group: client(fs.kind) for fs in file_systems() if fs.client_group},
        **{fs.server_group: server(fs.kind) for fs in file_systems() if fs.server_group},
    }


def membership(cluster: Cluster) -> dict[str, tuple[NodeGroup, ...]]:
    """Group → entries of the manifest whose nodes are in it; groups without nodes are left out."""
    tests: dict[str, Callable[[NodeGroup], bool]] = {"all": lambda group: True}
    for role in ROLES:
        tests[group_name(role)] = lambda group, role=role: group.has(role)  # type: ignore[misc]
    mounted = {group.index: mounts(cluster, group) for group in cluster.groups}
    tests |= _derived(cluster, mounted)
    for name, entry in cluster.manifest.storage.items():
        tests[mount_group(name)] = lambda group, name=name: name in mounted[group.index]  # type: ignore[misc]
        tests[entry_group("serve", name)] = lambda group, entry=entry: serves_targets(group, entry)  # type: ignore[misc]
        tests[entry_group("export", name)] = lambda group, entry=entry: serves(cluster, group, entry)  # type: ignore[misc]
    groups_by_name = {name: tuple(filter(test, cluster.groups)) for name, test in tests.items()}
    groups_by_name |= {kind.group: cluster.of_type[kind.name] for kind in cluster.node_types}
    return {name: members for name, members in groups_by_name.items() if members}
