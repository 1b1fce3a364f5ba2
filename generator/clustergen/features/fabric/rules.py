"""Names of the fabric's ports: what is left out while they are a guess."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import NeedsPortNames
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding


def fabric_ports_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Names that the catalogue assumes are left out of the tree: a wrong one would drain every node of the type."""
    fabric, needs = cluster.networks.fabric, cluster.needs(NeedsPortNames)
    for node_type in cluster.node_types:
        ports = node_type.fabric_ports()
        if fabric is None or not ports or not are_guessed(cluster, node_type):
            continue
        lacking = [each.what for each in needs if each.node_type in ("", node_type.name)]
        lacking += ["port alerts"] if cluster.hosts("monitoring") else []
        yield Finding(
            "fabric-ports-unknown",
            ("node_types", node_type.name),
            f"the device names of the {len(ports)} fabric ports of '{node_type.name}' are not known"
            + (f"; not rendered: {', '.join(lacking)}" if lacking else ""),
            f"run `rdma link` on a node and list the ports under node_types.{node_type.name}.nics:"
            f" [{{device: {ports[0].device}, interface: …}}, …]",
            key=True,
        )
