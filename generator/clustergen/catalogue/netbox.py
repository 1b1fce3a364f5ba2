"""NetBox's names for ports and power inlets, as its import forms and device types spell them."""

from __future__ import annotations

from clustergen.catalogue.tables import NOTHING, keyed
from clustergen.records import record


@record
class InterfaceType:
    """NetBox's type of a port with that connector, fabric and rate."""

    connector: str
    """Id in `cabling.connectors()`."""
    fabric: str
    gbit: int
    type: str
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class PowerConnector:
    """The inlet of a power supply, and the outlet that its cord needs."""

    inlet: str
    """C14, C20 or C22 of IEC 60320."""
    outlet: str
    netbox_port: str
    amps: int
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


_interface_types = keyed("netbox_interfaces.tsv", InterfaceType, lambda row: (row.connector, row.fabric, row.gbit))


def interface_type(connector: str, fabric: str, gbit: int) -> str:
    """NetBox's interface type of a port of `gbit` Gb/s; `other` where NetBox or the catalogue has none."""
    row = _interface_types().get((connector, fabric, gbit))
    return row.type if row else "other"


power_connectors = keyed("power_connectors.tsv", PowerConnector, lambda row: row.inlet)
"""All inlets by name: C14, C20, C22."""
