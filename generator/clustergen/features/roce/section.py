"""Lossless Ethernet, as written."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Section, field, section


class Roce(Section):
    """Lossless Ethernet: host settings that keep RDMA traffic from being dropped or mixed with other traffic."""

    dscp: Annotated[int, Field(ge=0, le=63)] = field(26, "DSCP of RDMA packets.")
    priority: Annotated[int, Field(ge=0, le=7)] = field(3, "Priority that PFC protects.")
    cnp_dscp: Annotated[int, Field(ge=0, le=63)] = field(48, "DSCP of congestion notification packets.")
    cnp_priority: Annotated[int, Field(ge=0, le=7)] = field(6, "Priority of congestion notification packets.")
    pfc: bool = field(True, "Priority flow control on the RDMA priority.")
    ecn: bool = field(True, "ECN marking and DCQCN reaction on the RDMA priority.")
    trust: Literal["dscp", "pcp"] = field("dscp", "Header field that selects the priority.")


PLACES = {"networks.fabric.roce": (Roce, section(Roce, "Lossless Ethernet settings."))}
