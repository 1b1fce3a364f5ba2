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
    ),
    "monitoring.thresholds.air_inlet": (
        Annotated[int, Field(ge=10, le=60)] | None,
        field(None, "°C of the air that nodes draw in; default: the most that the maker of the system allows."),
    ),
    "monitoring.thresholds.fan_speed": (
        Annotated[int, Field(ge=1, le=100_000)] | None,
        field(None, "Revolutions a minute of a node's fan, below which an alert fires; default: the BMC's own limits."),
    ),
}
