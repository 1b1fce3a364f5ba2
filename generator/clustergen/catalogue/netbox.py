"""NetBox's names for ports and power inlets, as its import forms and device types spell them."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import NOTHING, table
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


@cache
def _interface_types() -> dict[tuple[str, str, int], InterfaceType]:
    return {(row.connector, row.fabric, row.gbit): row for row in table("netbox_interfaces.tsv", InterfaceType)}


def interface_type(connector: str, fabric: str, gbit: int) -> str:
    """NetBox's interface type of a port of `gbit` Gb/s; `other` where NetBox or the catalogue has none."""
    row = _interface_types().get((connector, fabric, gbit))
    return row.type if row else "other"


@cache
def power_connectors() -> dict[str, PowerConnector]:
    """All inlets by name: C14, C20, C22."""
    return {row.inlet: row for row in table("power_connectors.tsv", PowerConnector)}
