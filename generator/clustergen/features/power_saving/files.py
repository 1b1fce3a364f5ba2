"""Power saving: the programs with which slurmctld switches nodes off and on."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.ground import Timeouts
from clustergen.features.power_saving.resolved import (
    ACTIONS,
    PROGRAM,
    PowerSaving,
    by_bmc,
    cloud_nodes,
    protocol_of_bmcs,
)
from clustergen.hostlist import compress
from clustergen.records import copied, record
from clustergen.render.file import Context, File
from clustergen.render.timers import timed

TABLE = "/etc/clustergen/power-nodes"
CLOUD_WAIT_S = 900
"""SlurmNodeDown fires after ten minutes: a node that does not start again and again is reported."""


@record
class Values:
    """Of the program, which has three names on the node. The site's command switches nodes without a BMC in the table,
    and all of them without a protocol.
    """

    protocol: str
    command: str
    user: str
    check_certificates: bool
    suspend_timeout_s: int
    resume_timeout_s: int


def values(cluster: Cluster, saving: PowerSaving) -> Values:
    return copied(
        Values,
        saving,
        protocol=protocol_of_bmcs(cluster) or "",
        command=saving.command or "",
        resume_timeout_s=cluster.of(Timeouts).resume_s,
    )


def nodes(cluster: Cluster) -> Context | None:
    if protocol_of_bmcs(cluster) is None:
        return None
    return {"rows": tuple(row for group in by_bmc(cluster) for row in zip(group.hosts, group.bmc, strict=False))}


def clouds(cluster: Cluster, _: OperatingSystem) -> Context | None:
    """Nodes of a cloud, and how long one is DOWN before it is powered down."""
    hosts = cloud_nodes(cluster)
    return {"nodes": compress(hosts), "wait_s": CLOUD_WAIT_S} if hosts else None


_SOURCE = "power/clustergen-power.py"
FILES: tuple[File, ...] = (
    File("slurm_controller/etc/clustergen/power.json", values, values=True),
    File("slurm_controller/usr/local/lib/clustergen/redfish.py", values, program="lib/redfish.py"),
    *(File(f"slurm_controller{PROGRAM}-{action}", values, mode=0o755, program=_SOURCE) for action in ACTIONS),
    File(f"slurm_controller{TABLE}", nodes),
    *timed("slurm_controller", "power/clustergen-cloud-nodes.py", clouds),
)
