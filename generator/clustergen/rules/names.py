"""Names: each host once, no name with two meanings, nothing defined in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from clustergen.catalogue.versions import since
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.named_rows import NamedRows
from clustergen.cluster.slurm import model as slurm
from clustergen.diagnostics import Finding, ManifestPath, quote
from clustergen.hostlist import HostlistError, is_node_name, span_of, validate_for_slurm
from clustergen.manifest.hardware import NodeType
from clustergen.manifest.slurm import Slurm

_RESERVED_HOSTS = frozenset({"all", "default", "localhost"})


def host_duplicate(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, NodeGroup] = {}
    for group in cluster.groups:
        path: ManifestPath = ("nodes", group.index, "name")
        host, times = Counter(group.hosts).most_common(1)[0]
        if times > 1:
            yield Finding("host-duplicate", path, f"host '{host}' is listed {times} times", "list each host name once")
        elif clash := next((host for host in group.hosts if host in seen), None):
            yield Finding(
                "host-duplicate",
                path,
                f"host '{clash}' is already defined by the entry {quote(seen[clash].folded)}",
                "list each host once; give a node with several roles one entry with all of them",
                at=_span(group, clash),
                first=("nodes", seen[clash].index, "name"),
            )
        for host in group.hosts:
            seen.setdefault(host, group)


def _span(group: NodeGroup, host: str) -> tuple[int, int] | None:
    """Where an entry's list names a host."""
    return span_of(group.entry, host)


def hostlist_not_for_slurm(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Lists of hosts that slurm.conf and gres.conf hold as they are written here."""
    lists: list[tuple[ManifestPath, str]] = [(("nodes", group.index, "name"), group.entry) for group in cluster.compute]
    lists += [(("slurm", "node_sets", name), text) for name, text in section.node_sets.items()]
    lists += [(("slurm", "partitions", name, "nodes"), spec.nodes) for name, spec in section.partitions.items()]
    for index, line in enumerate(section.gres_lines or ()):
        lists += [(("slurm", "gres_lines", index, key), str(line[key])) for key in line if key.lower() == "nodename"]
    for path, text in lists:
        if ":" in text:
            continue  # no host list at all, which host_name_form says
        try:
            validate_for_slurm(text, str(cluster.slurm.release), str(since("hostlist-suffix")))
        except HostlistError as err:
            yield Finding("hostlist-not-for-slurm", path, err.message, err.hint, at=(err.offset, err.length))


def host_name_form(cluster: Cluster) -> Iterator[Finding]:
    """RFC 952 and 1123, in lower case: a name that DNS and Slurm both take."""
    for group in cluster.groups:
        bad = next((host for host in group.hosts if not _good_host(host)), None)
        if bad is not None and _is_bare(cluster) and is_node_name(bad):
            yield Finding(
                "host-name-unusual",
                ("nodes", group.index, "name"),
                f"Slurm accepts the host name {quote(bad)}, but other programs may not",
                "use lower-case letters, digits and hyphens, without the domain",
                at=_span(group, bad),
            )
        elif bad is not None:
            yield Finding(
                "host-name-malformed",
                ("nodes", group.index, "name"),
                f"{quote(bad)} is not a valid host name",
                _better_host(bad),
                at=_span(group, bad),
            )


def _is_bare(cluster: Cluster) -> bool:
    """True if the cluster has Slurm, with its own defaults."""
    return cluster.has(slurm.Slurm) and cluster.slurm.bare


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
        return "use the short name, and set the domain in networks.management.domain"
    plain = name.lower().replace("_", "-")
    if _good_host(plain):
        return f"did you mean '{plain}'?"
    return "use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends, not only digits"


def name_reserved(cluster: Cluster) -> Iterator[Finding]:
    """Slurm takes NodeName=DEFAULT as defaults of later lines, and ALL as all nodes."""
    for group in cluster.groups:
        for host in _RESERVED_HOSTS.intersection(group.hosts):
            if host == "localhost" and _is_bare(cluster):
                yield Finding(
                    "host-name-unusual",
                    ("nodes", group.index, "name"),
                    "'localhost' is the name of every machine for itself, so only a cluster of one node can use it",
                    "use the name that `hostname -s` prints",
                    at=_span(group, host),
                )
                continue
            yield Finding(
                "name-reserved",
                ("nodes", group.index, "name"),
                f"'{host}' cannot be the name of a node",
                "use another name: every machine calls itself localhost"
                if host == "localhost"
                else f"use another name: Slurm reads NodeName={host} as a keyword, not as a node",
                at=_span(group, host),
            )


def node_type_unused(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    if not all(group.is_type_known for group in cluster.groups):
        return  # the misspelt one is said, and probably means this one
    used = {node_type.name for node_type in cluster.node_types}
    for name in [*used]:
        while name in section and (name := section[name].like or "") not in used:  # which may be like themselves
            used.add(name)
    for name in section:
        if name not in used:
            yield Finding(
                "node-type-unused",
                ("node_types", name),
                f"no node has the type '{name}'",
                "add nodes of this type, or remove it",
                key=True,
            )


def catalogue_row_unused(cluster: Cluster) -> Iterator[Finding]:
    catalogue, named = cluster.catalogue, cluster.of(NamedRows)
    for kind, rows, used, where, find in (
        ("systems", catalogue.own_systems, named.systems, "a node type's system", catalogue.system),
        ("gpus", catalogue.own_gpus, named.gpus, "a node type's gpus.model", catalogue.gpu),
        ("switches", catalogue.own_switches, named.switches, "a switch's model", catalogue.switch),
    ):
        if rows and any(find(name) is None for name in used):
            continue  # the misspelt one is said, and probably means one of these
        for name in rows:
            if name not in used:
                yield Finding(
                    "catalogue-row-unused",
                    ("catalogue", kind, name),
                    f"catalogue row '{name}' is not used",
                    f"use it as {where}, or remove it",
                    key=True,
                )


def group_name_clash(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Hyphens become underscores in Ansible's groups, and a host may not be called like a group."""
    from clustergen.cluster.groups import group_name, membership, mount_group

    for key, names, make in (
        ("node_types", section, lambda name: "type_" + group_name(name)),
        ("storage", cluster.storage, mount_group),
    ):
        seen: dict[str, str] = {}
        for name in names:
            if (group := make(name)) in seen:
                yield Finding(
                    "group-name-clash",
                    (key, name),
                    f"'{name}' and '{seen[group]}' both map to the Ansible group {group}",
                    "rename one of them: - and _ are the same in a group name",
                    key=True,
                )
            seen.setdefault(group, name)
    groups = membership(cluster)
    for group_ in cluster.groups:
        clash = next((host for host in group_.hosts if host in groups and host not in _RESERVED_HOSTS), None)
        if clash is not None and _is_bare(cluster):
            yield Finding(
                "host-name-unusual",
                ("nodes", group_.index, "name"),
                f"node '{clash}' has the name of an Ansible group, so --limit {clash} selects both",
                at=_span(group_, clash),
            )
        elif clash is not None:
            yield Finding(
                "group-name-clash",
                ("nodes", group_.index, "name"),
                f"node '{clash}' has the name of an Ansible group, so --limit {clash} is ambiguous",
                f"rename the node, for example to '{clash}1'",
                at=_span(group_, clash),
            )


def role_repeated(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.groups:
        for position, role in enumerate(group.roles):
            if role in group.roles[:position]:
                yield Finding(
                    "role-repeated",
                    ("nodes", group.index, "roles", position),
                    f"role '{role}' is listed twice",
                    "remove one of them",
                )
