"""Names: each host once, no name with two meanings, nothing defined in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.hostlist import HostlistError, validate_for_slurm
from clustergen.manifest.networks import Fabric

MOST_NODES = 65536  # MAX_SLURM_NODES


def host_duplicate(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for group in cluster.groups:
        for host, times in Counter(group.hosts).items():
            if times > 1:
                yield Finding("host-duplicate", ("nodes", group.index, "name"), f"'{host}' stands here {times} times")
                break
            if host in seen:
                where = "the same list" if seen[host] == group.index else f"entry {seen[host] + 1} of nodes"
                yield Finding(
                    "host-duplicate",
                    ("nodes", group.index, "name"),
                    f"'{host}' is a node already, by {where}",
                    "each host name once; machines with several roles are one entry with several roles",
                )
                break
        for host in group.hosts:
            seen.setdefault(host, group.index)


def too_many_nodes(cluster: Cluster) -> Iterator[Finding]:
    if (count := sum(len(group.hosts) for group in cluster.compute)) > MOST_NODES:
        yield Finding(
            "too-many-nodes",
            ("nodes",),
            f"{count} compute nodes; Slurm takes {MOST_NODES} in one cluster",
            "make several clusters and join them with Slurm's multi-cluster operation",
            key=True,
        )


def host_list_for_slurm(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.compute:
        text = cluster.manifest.nodes[group.index].name
        try:
            validate_for_slurm(text, str(cluster.release))
        except HostlistError as err:
            yield Finding(
                "hostlist-not-for-slurm", ("nodes", group.index, "name"), err.message, at=(err.offset, err.length)
            )


def host_name_form(cluster: Cluster) -> Iterator[Finding]:
    """RFC 952 and 1123, in lower case: a name that DNS and Slurm both take."""
    for group in cluster.groups:
        bad = next((host for host in group.hosts if not _good_host(host)), None)
        if bad is not None:
            yield Finding(
                "host-name-malformed",
                ("nodes", group.index, "name"),
                f"'{bad}' is no host name",
                "lower-case letters, digits and hyphens, a letter or digit at both ends, 63 characters at most",
            )


def _good_host(name: str) -> bool:
    plain = name.replace("-", "")
    return (
        0 < len(name) < 64
        and plain.isascii()
        and plain.isalnum()
        and name == name.lower()
        and name[0] != "-"
        and name[-1] != "-"
        and not name.isdigit()
        and name != "localhost"
    )


def node_type_unused(cluster: Cluster) -> Iterator[Finding]:
    used = {written.type for written in cluster.manifest.nodes}
    for name in cluster.manifest.node_types:
        if name not in used:
            yield Finding("node-type-unused", ("node_types", name), f"no node is of type '{name}'", key=True)


def own_row_unused(cluster: Cluster) -> Iterator[Finding]:
    manifest = cluster.manifest
    own = manifest.catalogue
    systems = {written.system for written in manifest.node_types.values()}
    gpus = {written.gpus.model for written in manifest.node_types.values()} | {row.gpu for row in own.systems.values()}
    fabric = manifest.networks.fabric
    switches = {switch.model for switch in fabric.switches} if isinstance(fabric, Fabric) else set()
    for kind, rows, used in (
        ("systems", own.systems, systems),
        ("gpus", own.gpus, gpus),
        ("switches", own.switches, switches),
    ):
        for name in rows:
            if name not in used:
                yield Finding("catalogue-row-unused", ("catalogue", kind, name), f"nothing uses '{name}'", key=True)


def group_name_clash(cluster: Cluster) -> Iterator[Finding]:
    """Hyphens become underscores in Ansible's groups, and a host may not be called like a group."""
    from clustergen.render.groups import group_name, membership, mount_group

    for section, names, make in (
        ("node_types", cluster.manifest.node_types, lambda name: "type_" + group_name(name)),
        ("storage", cluster.manifest.storage, mount_group),
    ):
        seen: dict[str, str] = {}
        for name in names:
            if (group := make(name)) in seen:
                yield Finding(
                    "group-name-clash",
                    (section, name),
                    f"'{name}' and '{seen[group]}' are one group to Ansible: {group}",
                    "tell them apart by more than - and _",
                    key=True,
                )
            seen.setdefault(group, name)
    groups = membership(cluster)
    for group_ in cluster.groups:
        if clash := next((host for host in group_.hosts if host in groups), None):
            yield Finding("group-name-clash", ("nodes", group_.index, "name"), f"'{clash}' is the name of a group too")


def roles_repeated(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.groups:
        for position, role in enumerate(group.roles):
            if role in group.roles[:position]:
                yield Finding("role-repeated", ("nodes", group.index, "roles", position), f"'{role}' stands here twice")


def service_with_jobs(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.compute:
        if group.type.name == "service" and "service" not in cluster.manifest.node_types:
            yield Finding(
                "compute-without-hardware",
                ("nodes", group.index, "type"),
                "a node that runs jobs needs a node type: Slurm has to know its CPUs and memory",
                "define one under node_types, built on a system of the catalogue",
            )


def rack_nodes(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.hostlist import expand

    everybody = set(cluster.hosts())
    seen: dict[str, str] = {}
    for name, rack in cluster.manifest.racks.items():
        for host in expand(rack.nodes) if rack.nodes else ():
            if host not in everybody:
                yield Finding(
                    "rack-node-unknown",
                    ("racks", name, "nodes"),
                    f"'{host}' is no node of this cluster",
                    did_you_mean(host, everybody),
                )
                break
            if host in seen:
                yield Finding(
                    "rack-node-twice", ("racks", name, "nodes"), f"'{host}' stands in rack '{seen[host]}' already"
                )
                break
            seen[host] = name
    fabric = cluster.manifest.networks.fabric
    for index, switch in enumerate(fabric.switches if fabric else ()):
        if switch.rack is not None and switch.rack not in cluster.manifest.racks:
            yield Finding(
                "rack-unknown",
                ("networks", "fabric", "switches", index, "rack"),
                f"no rack is called '{switch.rack}'",
                did_you_mean(switch.rack, cluster.manifest.racks),
            )


RULES = (
    host_duplicate,
    too_many_nodes,
    host_list_for_slurm,
    host_name_form,
    node_type_unused,
    own_row_unused,
    group_name_clash,
    roles_repeated,
    service_with_jobs,
    rack_nodes,
)
