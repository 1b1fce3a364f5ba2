"""topology.dot: the cabling of a RoCE fabric as ptmd of Cumulus Linux and SONiC compares it with LLDP.

Ports of switches are named as Cumulus names them: swp1, and swp1s0 where a cage has two ports.
"""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.facility.cabling import cables
from clustergen.facility.model import End
from clustergen.render.file import Context


def topology_dot(cluster: Cluster) -> Context | None:
    """None for other fabrics than RoCE, and where no switches are known."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type != "roce" or not cluster.switches:
        return None
    interfaces = {
        (host, port.label or port.device): port.interface or port.device
        for group in cluster.groups
        for port in group.type.fabric_ports()
        for host in group.hosts
    }
    links = []
    for cable in cables(cluster):
        a, b = cable.a, cable.b
        if cable.network == "fabric":
            links.append((b.device, _swp(b), a.device, interfaces.get((a.device, a.port)) or _swp(a)))
    return {"links": tuple(links)}


def _swp(end: End) -> str:
    cage, *parts = end.port.split("/")
    return f"swp{cage}" + "".join(f"s{int(part) - 1}" for part in parts[-1:])
