"""Sensors of BMCs as written."""

from typing import Annotated

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, PortNumber, Section, field
from clustergen.units import Bare


class Ipmi(Section):
    """ipmi_exporter on nodes with a BMC: it asks the BMC through the node's own interface, without a password."""

    port: PortNumber = field(ports()["ipmi-exporter"].port, "Port.")
    interval: Annotated[int, Field(ge=15, le=3600), Bare("second")] = field(60, "Time between two scrapes.")


PLACES = {
    "monitoring.ipmi": (
        Annotated[Ipmi | None, NOT_EMPTY],
        field(None, "Sensors of the BMCs: power supplies, fans, temperatures."),
    )
}
