"""Names of the fabric's ports: what is left out while they are a guess."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import NeedsPortNames
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding


def fabric_ports_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Names that the catalogue assumes are left out of the tree: a wrong one would drain every node of the type."""
    fabric = cluster.networks.fabric
    missing: dict[str, list[str]] = {node_type.name: [] for node_type in cluster.node_types}
    for need in cluster.needs(NeedsPortNames):
        for name in [need.node_type] if need.node_type else missing:
            missing.setdefault(name, []).append(need.what)
    for node_type in cluster.node_types:
        ports = node_type.fabric_ports()
        if fabric is None or not ports or not are_guessed(cluster, node_type):
            continue
        lacking = missing[node_type.name] + (["port alerts"] if cluster.hosts("monitoring") else [])
        yield Finding(
            "fabric-ports-unknown",
            ("node_types", node_type.name),
            (
                f"the device name of the fabric port of '{node_type.name}' is not known"
                if len(ports) == 1
                else f"the device names of the {len(ports)} fabric ports of '{node_type.name}' are not known"
            )
            + (f"; not rendered: {', '.join(lacking)}" if lacking else ""),
            f"run `rdma link` on a node and list the ports under node_types.{node_type.name}.nics:"
            f" [{{device: {ports[0].device}, interface: …}}, …]",
            key=True,
        )
