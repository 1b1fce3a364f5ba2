"""Settings of system firmware that the site decides: compared with what the BMC shows, and never set."""

from typing import Annotated

from clustergen.manifest.base import Section, field, section, text

Setting = Annotated[str, text(r"^[ -~]+$", "write on, off, or the value of the Redfish attribute", 100)]


class Firmware(Section):
    """Settings of firmware that `drift` compares with the BMCs: on, off, or the value of the Redfish attribute."""

    acs: Setting | None = field(None, "PCIe ACS of root ports and switches.")
    sr_iov: Setting | None = field(None, "SR-IOV.")
    c_states: Setting | None = field(None, "Deep idle states of processors.")
    power: Setting | None = field(None, "Power and performance profile, as PerfOptimized on PowerEdge.")


PLACES = {
    "node_types.*.firmware": (
        Firmware,
        section(Firmware, "Expected settings of firmware; not set by the playbooks."),
    )
}
