"""The machine room as resolved."""

from __future__ import annotations

from clustergen.cluster.facility import Cabling, Facility, Prices, Ups
from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest


def resolve(manifest: Manifest, _: Cluster) -> Facility:
    section = manifest.facility
    room, ups, prices = section.cabling, section.ups, section.prices
    return Facility(
        cabling=Cabling(room.rack_pitch, room.row_pitch, room.overhead, room.slack, room.margin.fraction),
        cooling_w=section.cooling.value if section.cooling else None,
        power_factor=section.power_factor,
        pue=section.pue,
        ups=Ups(ups.power.value, ups.apparent, ups.minutes, ups.required_minutes) if ups else None,
        spares=section.spares.fraction,
        all_reduce=section.estimates.all_reduce,
        checkpoint=section.estimates.checkpoint,
        prices=Prices(prices.currency, prices.items, prices.budget) if prices else None,
        is_stated="facility" in manifest.model_fields_set,
    )


RECORDS = {Facility: resolve}
