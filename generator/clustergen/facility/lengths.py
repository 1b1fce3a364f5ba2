"""Cable lengths from the geometry of the room.

Inside a rack: the units between both devices. Between racks: both ways up to the top, the distance along and across
the rows, and the way over. Both get the slack and then the margin.
"""

from __future__ import annotations

from collections.abc import Callable

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.model import Place
from clustergen.facility.placement import devices

UNIT_M = 0.04445
"""Height of a rack unit: 1.75 inches (EIA-310)."""


def lengths(cluster: Cluster) -> Callable[[str, str], float | None]:
    """A function that gives the metres between two devices, rounded up to 0.1; None where one of them has no place."""
    racks = {rack.name: rack for rack in cluster.racks}
    room = cluster.of(Facility).cabling
    placed = devices(cluster)
    metres_between: dict[tuple[Place, Place], float] = {}

    def between(one: Place, two: Place) -> float:
        if one.rack == two.rack:
            way = abs(one.unit - two.unit) * UNIT_M
        else:
            first, second = racks[one.rack], racks[two.rack]
            ups = first.units - one.unit + second.units - two.unit
            along = abs(first.position - second.position) * room.rack_pitch_m
            across = abs(first.row_number - second.row_number) * room.row_pitch_m
            way = ups * UNIT_M + along + across + room.overhead_m
        return -(-round((way + room.slack_m) * (1 + room.margin) * 1000) // 100) / 10

    def length(a: str, b: str) -> float | None:
        one, two = placed[a].place, placed[b].place
        if one is None or two is None:
            return None
        metres = metres_between.get((one, two))
        if metres is None:
            metres = metres_between[one, two] = between(one, two)
        return metres

    return length
