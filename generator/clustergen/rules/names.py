"""Names: each host once, no name with two meanings, nothing defined in vain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from clustergen.catalogue.versions import since
from clustergen.cluster.catalogue_view import CatalogueView
from clustergen.cluster.hardware import SERVICE
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, quote
from clustergen.hostlist import HostlistError, span_of, validate_for_slurm
from clustergen.manifest.networks import Fabric

MOST_NODES = 65536  # MAX_SLURM_NODES
_TAKEN = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
"""Names that slurmctld takes; imported clusters have them."""
_RESERVED_HOSTS = frozenset({"all", "default", "localhost"})


def host_duplicate(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, NodeGroup] = {}
    for group in cluster.groups:
        path: ManifestPath = ("nodes", group.index, "name")
        host, times = Counter(group.hosts).most_common(1)[0]
        if times > 1:
            yield Finding("host-duplicate", path, f"'{host}' stands here {times} times", "each host name once")
        elif clash := next((host for host in group.hosts if host in seen), None):
            yield Finding(
                "host-duplicate",
                path,
                f"'{clash}' is a node already, in the entry {quote(seen[clash].folded)}",
                "each host name once; a machine with several roles is one entry with all of them",
                at=_span(cluster, group, clash),
            )
        for host in group.hosts:
            seen.setdefault(host, group)


def _span(cluster: Cluster, group: NodeGroup, host: str) -> tuple[int, int] | None:
    """Where an entry's list names a host."""
    return span_of(cluster.manifest.nodes[group.index].name, host)


def too_many_nodes(cluster: Cluster) -> Iterator[Finding]:
    if (count := sum(len(group.hosts) for group in cluster.compute)) > MOST_NODES:
        yield Finding(
            "too-many-nodes",
            ("nodes",),
            f"{count:,} compute nodes; Slurm takes at most {MOST_NODES:,} in one cluster",
            "make several clusters and join them with Slurm's multi-cluster operation",
            key=True,
        )


def host_list_for_slurm(cluster: Cluster) -> Iterator[Finding]:
    """Lists of hosts that slurm.conf holds as they are written here."""
    slurm = cluster.manifest.slurm
    lists: list[tuple[ManifestPath, str]] = [
        (("nodes", group.index, "name"), cluster.manifest.nodes[group.index].name) for group in cluster.compute
    ]
    lists += [(("slurm", "node_sets", name), text) for name, text in slurm.node_sets.items()]
    lists += [(("slurm", "partitions", name, "nodes"), spec.nodes) for name, spec in slurm.partitions.items()]
    for path, text in lists:
        if ":" in text:
            continue  # no host list at all, which host_name_form says
        try:
            validate_for_slurm(text, str(cluster.release), str(since("hostlist-suffix")))
        except HostlistError as err:
            yield Finding("hostlist-not-for-slurm", path, err.message, err.hint, at=(err.offset, err.length))


def host_name_form(cluster: Cluster) -> Iterator[Finding]:
    """RFC 952 and 1123, in lower case: a name that DNS and Slurm both take."""
    for group in cluster.groups:
        bad = next((host for host in group.hosts if not _good_host(host)), None)
        if bad is not None and cluster.bare and _TAKEN.fullmatch(bad):
            yield Finding(
                "host-name-unusual",
                ("nodes", group.index, "name"),
                f"Slurm takes {quote(bad)} as a name, other programs may not",
                "lower-case letters, digits and hyphens, without the domain, are safe everywhere",
                at=_span(cluster, group, bad),
            )
        elif bad is not None:
            yield Finding(
                "host-name-malformed",
                ("nodes", group.index, "name"),
                f"{quote(bad)} is no host name",
                _better_host(bad),
                at=_span(cluster, group, bad),
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
    )


def _better_host(name: str) -> str:
    if "." in name:
        return "the short name only; the domain belongs in networks.management.domain"
    plain = name.lower().replace("_", "-")
    if _good_host(plain):
        return f"did you mean '{plain}'?"
    return "lower-case letters, digits and hyphens, a letter or digit at both ends, not digits alone, 63 at most"


def name_reserved(cluster: Cluster) -> Iterator[Finding]:
    """Slurm takes NodeName=DEFAULT and PartitionName=DEFAULT as defaults of later lines, and ALL as all nodes."""
    slurm = cluster.manifest.slurm
    for group in cluster.groups:
        for host in _RESERVED_HOSTS.intersection(group.hosts):
            if host == "localhost" and cluster.bare:
                yield Finding(
                    "host-name-unusual",
                    ("nodes", group.index, "name"),
                    "every machine calls itself 'localhost': a cluster of more than one has no use for it",
                    "the name that `hostname -s` prints",
                    at=_span(cluster, group, host),
                )
                continue
            yield Finding(
                "name-reserved",
                ("nodes", group.index, "name"),
                f"no node can be called '{host}'",
                "every machine calls itself that" if host == "localhost" else f"to Slurm NodeName={host} is no node",
                at=_span(cluster, group, host),
            )
    for name in slurm.partitions:
        if name.lower() == "default":
            yield Finding(
                "name-reserved",
                ("slurm", "partitions", name),
                f"no partition can be called '{name}'",
                "Slurm reads PartitionName=DEFAULT as defaults of the lines below it; for the default partition,"
                " give it another name and say default: true",
                key=True,
            )
    for name in slurm.node_sets:
        if name.lower() == "all":
            yield Finding(
                "name-reserved",
                ("slurm", "node_sets", name),
                f"no node set can be called '{name}'",
                "in a partition, all stands for every node that runs slurmd",
                key=True,
            )


def node_type_unused(cluster: Cluster) -> Iterator[Finding]:
    used = {entry.type for entry in cluster.manifest.nodes}
    if not used <= {SERVICE, *cluster.manifest.node_types}:
        return  # the misspelt one is said, and probably means this one
    for name in cluster.manifest.node_types:
        if name not in used:
            yield Finding(
                "node-type-unused",
                ("node_types", name),
                f"no node is of type '{name}'",
                "give it nodes, or take it away",
                key=True,
            )


def own_row_unused(cluster: Cluster) -> Iterator[Finding]:
    manifest = cluster.manifest
    catalogue = manifest.catalogue
    systems = {spec.system for spec in manifest.node_types.values()}
    gpus = {spec.gpus.model for spec in manifest.node_types.values()} | {row.gpu for row in catalogue.systems.values()}
    fabric = manifest.networks.fabric
    switches = {switch.model for switch in fabric.switches} if isinstance(fabric, Fabric) else set()
    catalogue_view = CatalogueView(manifest)
    for kind, rows, used, where, find in (
        ("systems", catalogue.systems, systems, "a node type's system", catalogue_view.system),
        ("gpus", catalogue.gpus, gpus, "a node type's gpus.model", catalogue_view.gpu),
        ("switches", catalogue.switches, switches, "a switch's model", catalogue_view.switch),
    ):
        if rows and any(name and find(name) is None for name in used):
            continue  # the misspelt one is said, and probably means one of these
        for name in rows:
            if name not in used:
                yield Finding(
                    "catalogue-row-unused",
                    ("catalogue", kind, name),
                    f"nothing uses '{name}'",
                    f"name it as {where}, or take it away",
                    key=True,
                )


def group_name_clash(cluster: Cluster) -> Iterator[Finding]:
    """Hyphens become underscores in Ansible's groups, and a host may not be called like a group."""
    from clustergen.cluster.groups import group_name, membership, mount_group

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
                    f"'{name}' and '{seen[group]}' both become the Ansible group {group}",
                    "tell them apart by more than - and _",
                    key=True,
                )
            seen.setdefault(group, name)
    groups = membership(cluster)
    for group_ in cluster.groups:
        clash = next((host for host in group_.hosts if host in groups and host not in _RESERVED_HOSTS), None)
        if clash is not None and cluster.bare:
            yield Finding(
                "host-name-unusual",
                ("nodes", group_.index, "name"),
                f"'{clash}' is the name of an Ansible group too: --limit {clash} takes both",
                at=_span(cluster, group_, clash),
            )
        elif clash is not None:
            yield Finding(
                "group-name-clash",
                ("nodes", group_.index, "name"),
                f"'{clash}' is the name of an Ansible group too, so --limit {clash} could mean either",
                f"give the node another name: '{clash}1'",
                at=_span(cluster, group_, clash),
            )


def roles_repeated(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.groups:
        for position, role in enumerate(group.roles):
            if role in group.roles[:position]:
                yield Finding(
                    "role-repeated", ("nodes", group.index, "roles", position), f"'{role}' stands here already"
                )


def service_with_jobs(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.compute:
        if cluster.manifest.nodes[group.index].type == SERVICE and SERVICE not in cluster.manifest.node_types:
            yield Finding(
                "compute-without-hardware",
                ("nodes", group.index, "type"),
                f"Slurm must know CPUs and memory of {quote(group.folded)}, and of type 'service' nothing is known",
                "define its hardware under node_types, or leave the role slurm-compute out",
            )


RULES = (
    host_duplicate,
    too_many_nodes,
    host_list_for_slurm,
    host_name_form,
    name_reserved,
    node_type_unused,
    own_row_unused,
    group_name_clash,
    roles_repeated,
    service_with_jobs,
)
