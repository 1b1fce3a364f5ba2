"""Tables of facility/README.md: loops of coolant with what their racks give off, and the cooling air of rows."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.cooling import LoopLoad, Units, loop_loads, row_air, unit_flow
from clustergen.hostlist import compress
from clustergen.render.views.tables import Table, table_of
from clustergen.units import Watts

_LOOPS = (
    "Heat at maximum power. CDUs: as many as heat and flow need, and spare ones. Flow: 14.3 × kW / temperature"
    " difference in K for water, 14.9 with 25 % propylene glycol, in litres a minute."
)
_COOLANTS = {"water": "water", "pg25": "25 % propylene glycol"}


def cooling_tables(cluster: Cluster) -> tuple[Table, ...]:
    return (
        table_of("Cooling loops", _LOOPS, map(_loop, loop_loads(cluster))),
        table_of("Air of rows", "Cooling air at maximum power, without heat that leaves by liquid.", _rows(cluster)),
    )


def _loop(one: LoopLoad) -> dict[str, str]:
    return {
        "Loop": one.name,
        "Racks": compress([rack.rack.name for rack in one.racks]),
        "Heat to liquid": f"{one.liquid_w / 1000:,.1f} kW",
        "Heat to air": f"{one.air_w / 1000:,.1f} kW",
        "Coolant": _COOLANTS[one.loop.coolant],
        "Difference": f"{one.loop.rise_k:g} K" if one.loop.rise_k else "",
        "Flow": f"{one.flow_l_per_minute:,.0f} L/min" if one.flow_l_per_minute else "",
        "CDUs": _units(one.cdus),
        "Pumps": _pumps(one.cdus),
        "Chillers": _units(one.chillers) if one.chillers else "",
    }


def _units(units: Units) -> str:
    plant = units.plant
    if units.needed is None or plant.capacity_w is None or units.total is None:
        return "capacity not known"
    spare = f", {units.total - units.needed} spare" if units.total > units.needed else ""
    return f"{units.total} × {Watts(plant.capacity_w)}: {units.needed} needed{spare}"


def _pumps(units: Units) -> str:
    plant = units.plant
    if plant.pumps is None or units.total is None:
        return ""
    flow = unit_flow(plant)
    words = f", {flow:,.0f} L/min of a CDU" if flow is not None else ""
    return f"{units.total} × {plant.pumps}: {plant.spare_pumps} of each CDU spare{words}"


def _rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    if not cluster.of(Facility).airflow_cfm:
        return
    for one in row_air(cluster):
        supplied = one.supplied_cfm
        yield {
            "Row": one.row or "without a name",
            "Needed": f"{one.needed_cfm:,.0f} CFM",
            "Supplied": f"{supplied:,.0f} CFM" if supplied else "not stated",
        }
