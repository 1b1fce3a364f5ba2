"""/etc/hosts: every node by all its addresses. Lines are made here: ten thousand nodes make a hundred thousand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.cluster.fabric import rail_suffix
from clustergen.cluster.host import HostsFile
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.records import record
from clustergen.render.file import Context, File
from clustergen.render.formats import YAML, Safe


@record
class Section:
    """The lines of one network."""

    title: str
    lines: Safe


def hosts(cluster: Cluster) -> Context | None:
    """None where the site's own DNS knows the nodes."""
    if not cluster.of(HostsFile).is_rendered:
        return None
    return {"sections": tuple(section for section in _sections(cluster) if section.lines)}


def cloud_init(cluster: Cluster) -> bool:
    """Tells cloud-init to leave /etc/hosts alone."""
    return cluster.of(HostsFile).is_rendered


def _sections(cluster: Cluster) -> Iterator[Section]:
    networks = cluster.networks
    groups = cluster.groups
    yield Section("Management network", _lines(((g, g.addresses) for g in groups), "", networks.management.domain))
    if networks.storage:
        yield Section("Storage network", _lines(((g, g.storage) for g in groups), "-st", networks.storage.domain))
    if fabric := networks.fabric:
        for rail in range(max((len(group.fabric) for group in groups), default=0)):
            members = ((group, group.fabric[rail]) for group in groups if rail < len(group.fabric))
            yield Section(f"Fabric, rail {rail}", _lines(members, rail_suffix(fabric, rail), fabric.domain))
    yield Section("BMCs", _lines(((g, g.bmc) for g in groups), "-bmc", networks.bmc.domain if networks.bmc else None))
    extra = cluster.of(HostsFile).extra
    yield Section("Others", Safe("\n".join(f"{address:<15} {' '.join(names)}" for address, names in extra.items())))


def _lines(members: Iterable[tuple[NodeGroup, tuple[str, ...]]], suffix: str, domain: str | None) -> Safe:
    """Full name first where there is a domain, so that `hostname -f` prints it."""
    full = f"{suffix}.{domain} " if domain else ""
    lines = []
    for group, addresses in members:
        named = zip(group.hosts, addresses, strict=False)
        if full:
            lines += [f"{address:<15} {host}{full}{host}{suffix}" for host, address in named]
        else:
            lines += [f"{address:<15} {host}{suffix}" for host, address in named]
    return Safe("\n".join(lines))


FILES = (
    File("all/etc/hosts", hosts),
    File("all/etc/cloud/cloud.cfg.d/99-clustergen.cfg", cloud_init, format=YAML),
)
