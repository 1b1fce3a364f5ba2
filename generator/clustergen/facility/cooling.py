"""Heat of racks by liquid and by air, and what takes it away: loops with their flow, CDUs, pumps and chillers; air."""

from __future__ import annotations

import math
from collections.abc import Iterator

from clustergen.catalogue.facility import flow_l_per_minute
from clustergen.cluster.facility import Facility, Loop, Plant
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.facility.power import RackLoad, rack_loads
from clustergen.records import record


@record
class Units:
    """CDUs or chillers of a loop: how many its heat and its flow need, and how many there are, with the spare ones."""

    plant: Plant
    needed: int | None  # without spare ones; None: their capacity is not known
    total: int | None

    @property
    def working(self) -> int | None:
        """Units that are left after as many as may fail have failed."""
        return None if self.total is None else max(0, self.total - self.plant.spare)


@record
class LoopLoad:
    """A loop with what its racks give off at most."""

    name: str
    loop: Loop
    racks: tuple[RackLoad, ...]
    liquid_w: float
    air_w: float
    flow_l_per_minute: float | None  # None: no temperature difference is stated
    cdus: Units
    chillers: Units | None


@record
class RowAir:
    """The cooling air of a row in CFM: what its racks need, and what the room supplies."""

    row: str
    needed_cfm: float
    supplied_cfm: float | None


@once_per_cluster
def loop_loads(cluster: Cluster) -> tuple[LoopLoad, ...]:
    """The loops in order of the manifest."""
    by_name = {one.rack.name: one for one in rack_loads(cluster)}
    return tuple(
        _load(name, loop, tuple(by_name[rack] for rack in loop.racks if rack in by_name))
        for name, loop in cluster.of(Facility).loops.items()
    )


@once_per_cluster
def cooled_racks(cluster: Cluster) -> frozenset[str]:
    """Names of the racks that a loop lists."""
    return frozenset(rack for loop in cluster.of(Facility).loops.values() for rack in loop.racks)


def air_w(cluster: Cluster, one: RackLoad) -> float:
    """Heat of a rack that the room removes: all of it, or without what leaves by the rack's loop."""
    return one.load.air_w if one.rack.name in cooled_racks(cluster) else one.load.watts


def _load(name: str, loop: Loop, racks: tuple[RackLoad, ...]) -> LoopLoad:
    liquid_w = sum(one.load.liquid_w for one in racks)
    flow = flow_l_per_minute(loop.coolant, liquid_w, loop.rise_k) if loop.rise_k else None
    return LoopLoad(
        name=name,
        loop=loop,
        racks=racks,
        liquid_w=liquid_w,
        air_w=sum(one.load.air_w for one in racks),
        flow_l_per_minute=flow,
        cdus=_units(loop.cdus, liquid_w, flow),
        chillers=_units(loop.chillers, liquid_w, None) if loop.chillers else None,
    )


def _units(plant: Plant, watts: float, flow: float | None) -> Units:
    if plant.capacity_w is None:
        return Units(plant, None, plant.count)
    needed = max(1, math.ceil(round(watts / plant.capacity_w, 6)))
    moved = unit_flow(plant)
    if flow is not None and moved:
        needed = max(needed, math.ceil(round(flow / moved, 6)))
    return Units(plant, needed, plant.count or needed + plant.spare)


def unit_flow(plant: Plant) -> float | None:
    """Litres a minute that one unit moves while its spare pumps are off."""
    if plant.pumps is None or plant.pump_flow_l_per_minute is None:
        return None
    return max(0, plant.pumps - plant.spare_pumps) * plant.pump_flow_l_per_minute


def row_air(cluster: Cluster) -> Iterator[RowAir]:
    """The rows with what their racks need, in order of the manifest."""
    needed: dict[str, float] = {}
    for one in rack_loads(cluster):
        needed[one.rack.row] = needed.get(one.rack.row, 0) + one.load.air_cfm
    supplied = cluster.of(Facility).airflow_cfm
    for row, cfm in needed.items():
        yield RowAir(row, cfm, supplied.get(row))
