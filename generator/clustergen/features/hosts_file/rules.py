"""/etc/hosts: every node has an address for it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.host import HostsFile
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, quote
from clustergen.manifest.nodes import Nodes


def address_missing(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[Finding]:
    """Slurm resolves every node at start, and a name that does not resolve costs it seconds; Ansible needs them too."""
    if not cluster.of(HostsFile).is_rendered:
        return
    for group in cluster.groups:
        later = group.state == "CLOUD"  # slurmctld receives the address when the node starts
        if section[group.index].address is None and not later:
            have = "has" if len(group.hosts) == 1 else "have"
            yield Finding(
                "address-missing",
                ("nodes", group.index, "name"),
                f"{quote(group.folded)} {have} no management address",
                "add address, or set host: {hosts_file: false} if DNS resolves all nodes",
            )
