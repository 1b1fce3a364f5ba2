"""Racks that are sold whole, PDUs, coolant distribution units, and the air and coolant that carry heat away."""

from __future__ import annotations

from clustergen.catalogue.figures import figure
from clustergen.catalogue.tables import NOTHING, keyed
from clustergen.records import record


@record
class RackSystem:
    """A rack that is sold whole: compute trays, NVLink switch trays and power shelves on one busbar."""

    id: str
    name: str
    system: str
    """Id of its compute trays in `systems.system()`."""
    trays: int
    switch_trays: int
    rack_units: int
    depth_mm: int
    weight_kg: float
    power_max_w: int
    """Steady draw of the whole rack at full load, in watts."""
    power_peak_w: int
    """Power of short peaks, in watts."""
    shelves: int
    shelf_w: int
    liquid_share_pct: int
    """Share of the heat that leaves by liquid; the rest warms the room."""
    inlet: str = ""
    switch: str = ""
    """Id of its NVLink switch trays in `hardware.switches()`."""
    layout: tuple[str, ...] = ()
    """From the bottom up, `compute:8` for eight of a kind: compute, switch or shelf. Each has one unit."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    @property
    def slots(self) -> tuple[str, ...]:
        """The kind of each unit, from the bottom up."""
        parts = (part.partition(":") for part in self.layout)
        return tuple(kind for kind, _, count in parts for _ in range(int(count)))


@record
class Pdu:
    """A rack PDU, and the feed that it is made for."""

    id: str
    model: str
    volts: int
    amps: int
    phases: int
    c13: int
    c19: int
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    @property
    def outlets(self) -> dict[str, int]:
        """Count by IEC 60320 type."""
        return {"C13": self.c13, "C19": self.c19}


@record
class Cdu:
    """A coolant distribution unit: pumps, and the heat exchanger between the racks' loop and the building's water."""

    id: str
    name: str
    capacity_w: int
    racks: int
    """Racks that its maker plans one for."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


cdus = keyed("cdus.tsv", Cdu, lambda row: row.id)
"""All coolant distribution units by id."""
pdus = keyed("pdus.tsv", Pdu, lambda row: row.id)
"""All rack PDUs by id."""
rack_systems = keyed("rack_systems.tsv", RackSystem, lambda row: row.id)
"""All racks that are sold whole, by id."""


def rack_system_of(system: str) -> RackSystem | None:
    """The rack that compute trays of this system id come in; None for servers that are sold alone."""
    return next((rack for rack in rack_systems().values() if rack.system == system), None)


def heat_btu_h(watts: float) -> float:
    """Heat in BTU/h of `watts` of electrical power."""
    return watts * figure("heat_btu")


def airflow_cfm(watts: float) -> float:
    """Cooling air in CFM that a room is sized with for `watts`, where the maker of the device prints no airflow."""
    return watts / 1000 * figure("airflow_per_kw")


def flow_l_per_minute(coolant: str, watts: float, rise_k: float) -> float:
    """Litres a minute of `coolant` that carry `watts` away and get warmer by `rise_k`."""
    return figure(f"{coolant}_flow") * watts / 1000 / rise_k
