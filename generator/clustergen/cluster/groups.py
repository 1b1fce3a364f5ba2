"""Ansible's groups: all, one per role, those that roles make together, per storage entry and node type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from clustergen.catalogue.roles import Role
from clustergen.cluster.contributions import Group
from clustergen.cluster.entry import Entry, Scope
from clustergen.cluster.exports import server_of
from clustergen.cluster.file_system import file_systems
from clustergen.cluster.model import Cluster, NodeGroup, NodeType, contributors, once_per_cluster
from clustergen.cluster.slurm.builds import has_sackd
from clustergen.cluster.slurm.model import Slurm
from clustergen.feature import claim
from clustergen.records import record

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


@record
class _Entries:
    """Storage entries by the index of a group in the manifest: all that its nodes mount, export, or hold targets of."""

    mounted: dict[int, dict[str, Entry]]
    exported: dict[int, dict[str, Entry]]
    targets: dict[int, dict[str, Entry]]


@once_per_cluster
def _entries(cluster: Cluster) -> _Entries:
    storage = cluster.storage
    exported: dict[int, dict[str, Entry]] = {group.index: {} for group in cluster.groups}
    targets: dict[int, dict[str, Entry]] = {group.index: {} for group in cluster.groups}
    index = {host: group.index for group in cluster.groups for host in group.hosts}
    for name, entry in storage.items():
        if (server := server_of(cluster, entry)) is not None:
            exported[server.group.index][name] = entry
        for host in entry.server_hosts:
            if host in index:
                targets[index[host]][name] = entry
    by_kind: dict[tuple[tuple[str, ...], str], dict[str, Entry]] = {}
    mounted = {}
    for group in cluster.groups:
        kind = group.roles, group.type.name
        if kind not in by_kind:
            by_kind[kind] = {name: entry for name, entry in storage.items() if group.is_client(entry)}
        entries, served = by_kind[kind], exported[group.index]
        mounted[group.index] = (
            {name: entry for name, entry in entries.items() if name not in served} if served else entries
        )
    return _Entries(mounted, exported, targets)


def mounts(cluster: Cluster, group: NodeGroup) -> Mapping[str, Entry]:
    """Storage entries that the nodes of a group mount; a server does not mount its own export."""
    return _entries(cluster).mounted[group.index]


def mounts_entry(cluster: Cluster, group: NodeGroup, name: str) -> bool:
    """True if the nodes of a group mount a storage entry."""
    return name in mounts(cluster, group)


def clients_of(cluster: Cluster, name: str) -> tuple[NodeGroup, ...]:
    """The groups whose nodes mount a storage entry."""
    return _clients(cluster).get(name, ())


def clients_of_type(cluster: Cluster, name: str, node_type: NodeType) -> list[NodeGroup]:
    """The node groups of a type that mount an entry."""
    return [group for group in cluster.of_type[node_type.name] if mounts_entry(cluster, group, name)]


@once_per_cluster
def _clients(cluster: Cluster) -> dict[str, tuple[NodeGroup, ...]]:
    return _by_entry(cluster, _entries(cluster).mounted)


def _by_entry(cluster: Cluster, entries: Mapping[int, Mapping[str, Entry]]) -> dict[str, tuple[NodeGroup, ...]]:
    """Name of an entry → its groups, of entries by group."""
    groups: dict[str, list[NodeGroup]] = {}
    for group in cluster.groups:
        for name in entries[group.index]:
            groups.setdefault(name, []).append(group)
    return {name: tuple(members) for name, members in groups.items()}


def exports_on(cluster: Cluster, group: NodeGroup) -> Mapping[str, Entry]:
    """Storage entries that a node of the group exports by NFS."""
    return _entries(cluster).exported[group.index]


def targets_on(cluster: Cluster, group: NodeGroup) -> Mapping[str, Entry]:
    """Storage entries with targets that are created on nodes of the group."""
    return _entries(cluster).targets[group.index]


def _derived(cluster: Cluster) -> dict[str, Callable[[NodeGroup], bool]]:
    has_slurm = cluster.has(Slurm)

    def slurm_node(group: NodeGroup) -> bool:
        return has_slurm and any(group.has(role) for role in SLURM_ROLES)

    def gpu_node(group: NodeGroup) -> bool:
        return group.type.gpus is not None and group.has("slurm-compute")

    def sackd_node(group: NodeGroup) -> bool:
        served = group.has("slurm-controller") or group.has("slurm-compute")  # by their own file, or by slurmd
        is_needed = has_slurm and cluster.slurm.configless and group.has("login")
        return is_needed and not served and has_sackd(cluster, group.type.os)

    def slurm_conf_server(group: NodeGroup) -> bool:
        alone = group.has("login") and not group.has("slurm-compute") and not sackd_node(group)
        return has_slurm and cluster.slurm.configless and (group.has("slurm-controller") or alone)

    def compute_only(group: NodeGroup) -> bool:
        return group.has("slurm-compute") and not group.has("login") and not group.has("slurm-controller")

    return {
        "cloud": lambda group: group.is_dynamic,  # site.yml leaves these out unless they are named
        "slurm_node": slurm_node,
        "slurm_conf_server": slurm_conf_server,  # has slurm.conf itself although the cluster is configless
        "sackd_node": sackd_node,
        "compute_only": compute_only,
        "gpu_node": gpu_node,
    }


def _of_file_systems(cluster: Cluster) -> dict[str, Callable[[NodeGroup], bool]]:
    def client(kind: str) -> Callable[[NodeGroup], bool]:
        return lambda group: any(entry.type == kind for entry in mounts(cluster, group).values())

    def server(kind: str) -> Callable[[NodeGroup], bool]:
        return lambda group: any(entry.type == kind for entry in targets_on(cluster, group).values())

    clients = {fs.client_group: client(fs.kind) for fs in file_systems() if fs.client_group}
    return clients | {fs.server_group: server(fs.kind) for fs in file_systems() if fs.server_group}


def _of_nodes(cluster: Cluster) -> dict[str, Callable[[NodeGroup], bool]]:
    """Group → whether an entry of the manifest is in it, of groups that follow from roles and types."""
    tests: dict[str, Callable[[NodeGroup], bool]] = {"all": lambda group: True}
    for role in ROLES:
        tests[group_name(role)] = lambda group, role=role: group.has(role)  # type: ignore[misc]
    return tests | _derived(cluster)


def ground_groups(cluster: Cluster) -> set[str]:
    """All groups that no feature contributes, with those that have no nodes."""
    scopes = (entry_group(scope, name) for scope in ENTRY_SCOPES for name in cluster.storage)
    types = (node_type.group for node_type in cluster.node_types)
    return {*_of_nodes(cluster), *_of_file_systems(cluster), *types, *scopes}


def all_groups(cluster: Cluster) -> set[str]:
    return ground_groups(cluster) | {group.name for group in cluster.needs(Group)}


def members_of(cluster: Cluster, name: str) -> tuple[NodeGroup, ...]:
    """Entries of one group; reads no more of the cluster than it depends on."""
    if test := (_of_nodes(cluster) | _of_file_systems(cluster)).get(name):
        return tuple(filter(test, cluster.groups))
    contributed = {group.name: group.members for group in cluster.needs(Group)}
    return contributed[name] if name in contributed else membership(cluster).get(name, ())


@once_per_cluster
def types_in(cluster: Cluster, name: str) -> frozenset[str]:
    """Names of the types of nodes in a group."""
    return frozenset(group.type.name for group in members_of(cluster, name))


@once_per_cluster
def membership(cluster: Cluster) -> Mapping[str, tuple[NodeGroup, ...]]:
    """Group → entries of the manifest whose nodes are in it; groups without nodes are left out."""
    contributed, ground = cluster.needs(Group), ground_groups(cluster)
    if clash := next((group.name for group in contributed if group.name in ground), None):
        functions = contributors()["Iterator[Group]"]
        owner = next(each for each in functions if any(group.name == clash for group in each(cluster)))
        claim({clash: "clustergen"}, clash, owner.__module__, "contribute the group {}")
    groups_by_name: dict[str, tuple[NodeGroup, ...]] = {}
    for name, test in _of_nodes(cluster).items():
        groups_by_name |= {group.name: group.members for group in contributed if group.before == name}
        groups_by_name[name] = tuple(filter(test, cluster.groups))
    groups_by_name |= {group.name: group.members for group in contributed if not group.before}
    groups_by_name |= {name: tuple(filter(test, cluster.groups)) for name, test in _of_file_systems(cluster).items()}
    entries = _entries(cluster)
    targets, exported = (_by_entry(cluster, each) for each in (entries.targets, entries.exported))
    for name in cluster.storage:
        for scope, groups in (("mount", _clients(cluster)), ("serve", targets), ("export", exported)):
            groups_by_name[entry_group(scope, name)] = groups.get(name, ())
    groups_by_name |= {node_type.group: cluster.of_type[node_type.name] for node_type in cluster.node_types}
    return {name: members for name, members in groups_by_name.items() if members}


def users_groups(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """The nodes where users log in, if something is there for them."""
    return membership(cluster).get("user_node", ())
