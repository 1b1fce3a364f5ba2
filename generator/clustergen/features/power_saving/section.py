"""Power saving: idle nodes are switched off, and on again when a job needs them."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, BmcUser, HostList, Name, Section, field
from clustergen.units import Bare

Seconds = Annotated[int, Field(ge=60, le=65533), Bare("second")]
Rate = Annotated[int, Field(ge=1, le=10_000)]


class PowerSaving(Section):
    """How slurmctld switches nodes off and on."""

    suspend_time: Annotated[int, Field(ge=60, le=31_536_000), Bare("second")] = field(
        ..., "SuspendTime: a node is switched off when it has been idle for this time.", sample="15min"
    )
    suspend_timeout: Seconds = field(
        300, "SuspendTimeout: time for shutting down; then the node is switched off, and may be switched on again."
    )
    suspend_rate: Rate = field(20, "SuspendRate: nodes that are switched off per minute.")
    resume_rate: Rate = field(20, "ResumeRate: nodes that are switched on per minute; limits the inrush current.")
    except_nodes: HostList | None = field(None, "SuspendExcNodes: nodes that stay on.")
    except_partitions: tuple[Name, ...] = field((), "SuspendExcParts: partitions whose nodes stay on.")
    user: BmcUser = field("clustergen", "Account on the BMCs; supply its password as secrets_given.bmc.")
    check_certificates: bool = field(True, "Whether certificates of BMCs are checked (Redfish).")
    command: AbsolutePath | None = field(
        None,
        "Program that is called as COMMAND on|off NODE, as Slurm's user on the controller; default: through the BMCs in"
        " addresses.bmc, by networks.bmc.protocol. Beside cloud nodes, nodes with a BMC are switched through it.",
    )


PLACES = {
    "slurm.power_saving": (
        Annotated[PowerSaving | None, NOT_EMPTY],
        field(None, "Switches idle nodes off, and on again when a job needs them."),
    )
}
