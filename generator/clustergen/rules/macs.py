"""MAC addresses of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.diagnostics.words import counted
from clustergen.manifest.nodes import Nodes


def macs(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[Finding]:
    """MAC addresses: as many as names, and each once in the cluster."""
    owner: dict[str, str] = {}
    for group in cluster.groups:
        listed = section[group.index].macs
        path: ManifestPath = ("nodes", group.index, "macs")
        if listed and len(listed) != len(group.hosts):
            numbers = f"{counted(len(listed), 'MAC address')} for {counted(len(group.hosts), 'node')}"
            yield Finding("mac-count", path, numbers, "list one per name, in the same order")
        for index, (host, mac) in enumerate(zip(group.hosts, group.macs, strict=False)):
            if (other := owner.setdefault(mac, host)) != host:
                yield Finding("mac-duplicate", (*path, index), f"{mac} of '{host}' is already that of '{other}'")
