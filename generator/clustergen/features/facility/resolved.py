"""The machine room as resolved."""

from __future__ import annotations

from clustergen.catalogue.facility import cdus
from clustergen.cluster.facility import (
    Cabling,
    Delivery,
    Facility,
    Loop,
    Plant,
    Prices,
    Range,
    Sensor,
    Training,
    Ups,
    middles,
)
from clustergen.cluster.model import Cluster
from clustergen.features.facility import section as manifest
from clustergen.hostlist import expand
from clustergen.manifest.model import Manifest
from clustergen.records import copied


def resolve(whole: Manifest, _: Cluster) -> Facility:
    section = whole.facility
    room, ups, prices = section.cabling, section.ups, section.prices
    return Facility(
        cabling=Cabling(room.rack_pitch, room.row_pitch, room.overhead, room.slack, room.margin.fraction),
        cooling_w=section.cooling.value if section.cooling else None,
        loops={name: loop(stated) for name, stated in section.loops.items()},
        airflow_cfm=section.airflow,
        power_factor=section.power_factor,
        pue=section.pue,
        ups=Ups(ups.power.value, ups.apparent, ups.minutes, ups.required_minutes) if ups else None,
        spares=section.spares.fraction,
        all_reduce=section.estimates.all_reduce,
        checkpoint=section.estimates.checkpoint,
        training={name: training(run) for name, run in section.estimates.training.items()},
        prices=money(prices) if prices else None,
        deliveries={name: delivery(stated) for name, stated in section.deliveries.items()},
        is_stated="facility" in whole.model_fields_set,
    )


def money(stated: manifest.Prices) -> Prices:
    ranges = {
        name: Range(price.low, price.high)
        for name, price in stated.items.items()
        if isinstance(price, manifest.PriceRange)
    }
    return copied(
        Prices,
        stated,
        items=middles(stated.items),
        ranges=ranges,
        contingency=stated.contingency.fraction,
        tax=stated.tax.fraction,
    )


def delivery(stated: manifest.Delivery) -> Delivery:
    return copied(
        Delivery,
        stated,
        devices=tuple(expand(stated.devices)) if stated.devices else (),
        warranty_years=stated.warranty,
        life_years=stated.life or stated.warranty,
    )


def loop(stated: manifest.Loop) -> Loop:
    sensors = {name: getattr(stated.sensors, name) for name in manifest.Sensors.model_fields}
    return Loop(
        racks=tuple(expand(stated.racks)),
        coolant=stated.coolant,
        rise_k=stated.rise,
        share=stated.share.fraction if stated.share else None,
        cdus=plant(stated.cdus),
        chillers=plant(stated.chillers) if stated.chillers else None,
        sensors={
            name: Sensor(one.series, one.scale, getattr(one, "high", None), getattr(one, "low", None))
            for name, one in sensors.items()
            if one
        },
    )


def plant(stated: manifest.Cdus | manifest.Chillers) -> Plant:
    """Units of a loop; a model of the catalogue has the capacity that the manifest does not state."""
    pumped = stated if isinstance(stated, manifest.Cdus) else manifest.Cdus()
    model = cdus().get(pumped.model) if pumped.model else None
    return Plant(
        model=pumped.model,
        capacity_w=stated.capacity.value if stated.capacity else model.capacity_w if model else None,
        count=stated.count,
        spare=stated.spare,
        pumps=pumped.pumps,
        spare_pumps=pumped.spare_pumps,
        pump_flow_l_per_minute=pumped.pump_flow,
    )


def training(run: manifest.Training) -> Training:
    """A run of the manifest, or of the options of `clustergen facility estimate`."""
    return copied(
        Training,
        run,
        parameters=run.parameters.value,
        token_count=run.token_count.value,
        batch=run.batch.value if run.batch else None,
        reached=run.reached.fraction if run.reached else None,
        checkpoint_every_s=run.checkpoint_every,
        effective_time=run.effective_time.fraction,
    )


RECORDS = {Facility: resolve}
