"""firewalld: nodes of the cluster reach each other on every port.

srun, PMIx, NCCL and MPI listen on ports that the kernel chooses, so no list of ports can be enough. Packets from other
networks stay in firewalld's default zone.
"""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.host import Firewall
from clustergen.cluster.model import Cluster
from clustergen.render.effects import DAEMON_RELOAD, run
from clustergen.render.file import Context, File

UNIT = "clustergen-firewall.service"


def zone(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """The networks of the manifest whose addresses are the nodes' own; None where the system has no firewalld."""
    spec = cluster.networks
    fabric = spec.fabric
    cidrs = [
        spec.management.cidr,
        spec.storage.cidr if spec.storage else None,
        *((fabric.cidr, *fabric.rails) if fabric else ()),
    ]
    networks = tuple(dict.fromkeys(cidr for cidr in cidrs if cidr))
    if not networks or not cluster.of(Firewall).opens or os.fact("firewall") != "firewalld":
        return None
    return {"networks": networks}


FILES = (
    File(f"all/etc/systemd/system/{UNIT}", zone, DAEMON_RELOAD, per="os"),
    File("all/etc/firewalld/zones/clustergen.xml", zone, run(UNIT), per="os"),
)
