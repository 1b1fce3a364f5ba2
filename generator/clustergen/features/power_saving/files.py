"""Power saving: the programs with which slurmctld switches nodes off and on."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.ground import Timeouts
from clustergen.features.power_saving.resolved import ACTIONS, PROGRAM, PowerSaving, protocol_of_bmcs
from clustergen.records import record
from clustergen.render.file import File

TABLE = "/etc/clustergen/power-nodes"


@record
class Values:
    """Of the program, which has three names on the node. Without a protocol, the site's command switches nodes."""

    protocol: str
    command: str
    user: str
    check_certificates: bool
    suspend_timeout_s: int
    resume_timeout_s: int


def values(cluster: Cluster) -> Values | None:
    if not cluster.has(PowerSaving):
        return None
    saving = cluster.of(PowerSaving)
    return Values(
        protocol=protocol_of_bmcs(cluster) or "",
        command=saving.command or "",
        user=saving.user,
        check_certificates=saving.check_certificates,
        suspend_timeout_s=saving.suspend_timeout_s,
        resume_timeout_s=cluster.of(Timeouts).resume_s,
    )


@record
class Nodes:
    """Compute nodes with the address of their BMC."""

    rows: tuple[tuple[str, str], ...]


def nodes(cluster: Cluster) -> Nodes | None:
    if protocol_of_bmcs(cluster) is None:
        return None
    return Nodes(tuple(row for group in cluster.compute for row in zip(group.hosts, group.bmc, strict=False)))


_SOURCE = "power/clustergen-power.py"
FILES: tuple[File, ...] = (
    File("slurm_controller/etc/clustergen/power.json", values, values=True),
    File("slurm_controller/usr/local/lib/clustergen/redfish.py", values, program="lib/redfish.py"),
    *(File(f"slurm_controller{PROGRAM}-{action}", values, mode=0o755, program=_SOURCE) for action in ACTIONS),
    File(f"slurm_controller{TABLE}", nodes),
)
