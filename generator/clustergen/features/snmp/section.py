"""Devices that answer SNMP as written."""

from typing import Annotated

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, HostName, PlaceName, PortNumber, Section, field, text
from clustergen.manifest.base import Host as HostOrAddress
from clustergen.units import Bare

SnmpWord = Annotated[str, text(r"^[A-Za-z][A-Za-z0-9_]*$", "use letters, digits and _, and begin with a letter", 63)]


class SnmpDevice(Section):
    """A PDU, a UPS or another device that answers SNMP."""

    address: HostOrAddress = field(..., "Host name or IP address.", sample="10.0.9.201")
    module: SnmpWord = field(
        ...,
        "What is read: ups_mib, apc_rpdu2, entity_sensor, or a module in a site file `snmp-NAME.yml`.",
        sample="ups_mib",
    )
    auth: SnmpWord = field(..., "Name of its credentials in the secret `snmp`.", sample="public")
    rack: PlaceName | None = field(None, "Rack that it feeds, a label of its metrics.")


class Snmp(Section):
    """snmp_exporter on the monitoring nodes, for PDUs and UPS. Credentials are the secret `snmp`."""

    port: PortNumber = field(ports()["snmp-exporter"].port, "Port.")
    interval: Annotated[int, Field(ge=15, le=3600), Bare("second")] = field(60, "Time between two scrapes.")
    devices: dict[HostName, SnmpDevice] = field(..., "Devices by name: the label `instance`.", min_length=1)


PLACES = {"monitoring.snmp": (Annotated[Snmp | None, NOT_EMPTY], field(None, "PDUs and UPS, read by SNMP."))}
