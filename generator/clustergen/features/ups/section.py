"""UPS that shut nodes down, as written."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, Host, HostList, HostName, PortNumber, Section, Word, field
from clustergen.units import Bare


class SnmpUser(Section):
    """An account of SNMP version 3 with authentication and encryption, which replaces the community."""

    user: Word = field(..., "Name of the account (secName).", sample="nut")
    authentication: Literal["MD5", "SHA", "SHA256", "SHA384", "SHA512"] = field("SHA", "Protocol of authentication.")
    privacy: Literal["DES", "AES", "AES192", "AES256"] = field("AES", "Protocol of encryption.")


class UpsDevice(Section):
    """A UPS that NUT asks."""

    driver: Literal["snmp-ups", "usbhid-ups"] = field(
        "snmp-ups", "Driver of NUT: by the network, or by USB of the server."
    )
    address: Host | None = field(None, "Host name or IP address, for snmp-ups.")
    snmp: SnmpUser | None = field(None, "Account of SNMP version 3, for snmp-ups; default: a community (version 1).")
    feeds: HostList = field(
        ..., "Nodes that it feeds; a node of several runs while the others carry it.", sample="head"
    )


class Ups(Section):
    """Orderly shutdown of the nodes by Network UPS Tools: jobs, then compute and login nodes, services, the server."""

    server: HostName | None = field(None, "Node that asks the UPS and stops last; default: the first controller.")
    port: PortNumber = field(ports()["nut"].port, "Port of upsd.")
    after: Annotated[int, Field(ge=10, le=86400), Bare("second")] = field(
        300, "Time on battery after which nodes are shut down; a low battery does so at once."
    )
    grace: Annotated[int, Field(ge=10, le=3600), Bare("second")] = field(
        60, "Time between the order and the shutdown of compute nodes, in which jobs are requeued."
    )
    devices: dict[HostName, UpsDevice] = field(..., "UPS by name.", min_length=1)


PLACES = {
    "ups": (Annotated[Ups | None, NOT_EMPTY], field(None, "Shutdown by UPS; none unless the section is present."))
}
