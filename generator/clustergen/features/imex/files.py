"""Files of the IMEX daemon: the nodes of each domain, and which of them a node is to read."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.nvlink import domain_nodes, domains_of
from clustergen.features.imex.needs import UNIT
from clustergen.render.effects import drain
from clustergen.render.file import Context, File, sbin


def imex_domains(cluster: Cluster, node_type: NodeType) -> dict[str, Context] | None:
    """Members of each NVLink domain, the node included, by address where there is one; none where NVLink ends in it."""
    return {
        name: {"title": f"NVLink domain {name}", "members": tuple(cluster.address.get(host, host) for host in members)}
        for name, members in domains_of(cluster, node_type).items()
    } or None


def imex(_: Cluster, node_type: NodeType) -> Context | None:
    """Drop-in of nvidia-imex.service."""
    return {"script": "/usr/local/sbin/clustergen-imex-nodes"} if domain_nodes(node_type) > 1 else None


FILES: tuple[File, ...] = (
    File("gpu_node/etc/nvidia-imex/clustergen/{domain}.cfg", imex_domains, drain(UNIT), per="type"),
    sbin("gpu_node", "gpu/clustergen-imex-nodes.sh", imex, per="type"),
    File(f"gpu_node/etc/systemd/system/{UNIT}.d/50-clustergen.conf", imex, drain(UNIT), per="type"),
)
