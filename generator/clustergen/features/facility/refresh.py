"""The refresh plan: when devices were bought, how long their warranty runs, and which leave first."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import date

from clustergen.cluster.facility import Delivery, Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.placement import devices
from clustergen.hostlist import compress
from clustergen.records import record
from clustergen.render.views.tables import Table, table_of

_YEAR = 365.25
_INTRO = (
    "Sorted by the day on which devices leave: the date of purchase and the years of facility.deliveries.NAME.life, or"
    " of the warranty. clustergen facility refresh shows ages, and what is due today."
)


@record
class Due:
    """Devices of a delivery, and their dates; None: nothing is stated."""

    delivery: str
    devices: tuple[str, ...]
    models: tuple[str, ...]
    bought: date | None
    warranty_until: date | None
    leaves: date | None

    def age_years(self, day: date) -> float | None:
        return (day - self.bought).days / _YEAR if self.bought else None

    def has_warranty(self, day: date) -> bool | None:
        return None if self.warranty_until is None else day <= self.warranty_until


def refresh_plan(cluster: Cluster) -> tuple[Due, ...]:
    """Deliveries by the date on which they leave, those without one by age; devices of none are last."""
    stated = cluster.of(Facility).deliveries
    if not stated:
        return ()
    owners = owner_of(cluster)
    every = devices(cluster)
    members: dict[str, list[str]] = {name: [] for name in (*stated, "")}
    for name in every:
        members[owners.get(name, "")].append(name)
    rows = [
        _due(name, stated.get(name), tuple(names), tuple(dict.fromkeys(every[one].title for one in names)))
        for name, names in members.items()
        if names
    ]
    last = date.max
    return tuple(sorted(rows, key=lambda one: (one.leaves or last, one.bought or last)))


def owner_of(cluster: Cluster) -> dict[str, str]:
    """Device → its delivery: a delivery that names it comes before one that names its type."""
    stated = cluster.of(Facility).deliveries
    of_type = {kind: name for name, delivery in stated.items() for kind in delivery.types}
    named = {device: name for name, delivery in stated.items() for device in delivery.devices}
    owners = {name: named.get(name) or of_type.get(one.type, "") for name, one in devices(cluster).items()}
    return {name: owner for name, owner in owners.items() if owner}


def _due(name: str, delivery: Delivery | None, names: tuple[str, ...], models: tuple[str, ...]) -> Due:
    bought = date.fromisoformat(delivery.bought) if delivery else None
    return Due(
        delivery=name,
        devices=names,
        models=models,
        bought=bought,
        warranty_until=_after(bought, delivery.warranty_years if delivery else None),
        leaves=_after(bought, delivery.life_years if delivery else None),
    )


def _after(start: date | None, years: float | None) -> date | None:
    """The same day of the month so many years later, in whole months, or the last day of a shorter month."""
    if start is None or years is None:
        return None
    year, month = divmod(start.year * 12 + start.month - 1 + round(years * 12), 12)
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))


def refresh_table(cluster: Cluster) -> Table:
    return table_of("Refresh plan", _INTRO, _rows(cluster))


def _rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    for number, one in enumerate(refresh_plan(cluster), 1):
        yield {
            "Order": str(number) if one.leaves else "",
            "Delivery": one.delivery or "none",
            "Devices": compress(one.devices),
            "Models": ", ".join(filter(None, one.models)),
            "Bought": str(one.bought or ""),
            "Warranty until": str(one.warranty_until or ""),
            "Replace on": str(one.leaves or "not planned"),
        }
