"""Settings of system firmware that the site decides: compared with what the BMC shows, and set on request."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from clustergen.catalogue.firmware import FamilyName
from clustergen.manifest.base import Section, field, section, text

_SWITCHES = {
    **dict.fromkeys(("disabled", "disable", "false", "no"), "off"),
    **dict.fromkeys(("enabled", "enable", "true", "yes"), "on"),
}


def _switch(value: str) -> str:
    """Words of vendors are Disabled and Enabled: in lower case they are a switch, which has other words here."""
    if word := _SWITCHES.get(value):
        from pydantic_core import PydanticCustomError

        context = {"value": value, "hint": f"write {word}"}
        raise PydanticCustomError("value-not-allowed", "cannot be '{value}'", context)
    return value


Setting = Annotated[
    str, text(r"^[ -~]+$", "write on, off, or the value of the Redfish attribute", 100), AfterValidator(_switch)
]
BootEntry = Annotated[
    str,
    text(r"^[!-~]([ -~]*[!-~])?$", "write an alias of Redfish, as Pxe, or a name that BMCs show, as *PXE IPv4*", 100),
]
AdapterSetting = Literal[
    "ROCE_CC_PRIO_MASK_P1",
    "ROCE_CC_PRIO_MASK_P2",
    "MAX_ACC_OUT_READ",
    "ADVANCED_PCI_SETTINGS",
    "SRIOV_EN",
    "NUM_OF_VFS",
]
AdapterValue = Annotated[int, Field(ge=0, le=65535)]


class Firmware(Section):
    """Settings of firmware that `drift` compares with the BMCs, and the playbook clustergen.cluster.firmware sets: on,
    off, or the value of the Redfish attribute.
    """

    family: FamilyName | None = field(
        None, "Firmware whose names of Redfish attributes the BMC has; default: that of the system, if it is known."
    )
    resizable_bar: Setting | None = field(None, "Resizable BAR, for GPUs whose firmware leaves it to the BIOS.")
    acs: Setting | None = field(None, "PCIe ACS of root ports and switches.")
    sr_iov: Setting | None = field(None, "SR-IOV.")
    c_states: Setting | None = field(None, "Deep idle states of processors.")
    power: Setting | None = field(None, "Power and performance profile, as PerfOptimized on PowerEdge.")
    boot_order: tuple[BootEntry, ...] = field(
        (),
        "What boots first, second …: aliases of Redfish or names that the BMC shows, with * and ?: [Pxe, Hdd]. Other"
        " entries follow in their order. Not compared by `drift`.",
    )
    adapters: dict[AdapterSetting, AdapterValue] = field(
        {},
        "Settings of the firmware of the fabric's adapters, by their names in mstconfig: MAX_ACC_OUT_READ: 44."
        " LINK_TYPE follows from the type of the fabric.",
    )


PLACES = {
    "node_types.*.firmware": (
        Firmware,
        section(Firmware, "Expected settings of firmware; site.yml does not set them."),
    )
}
