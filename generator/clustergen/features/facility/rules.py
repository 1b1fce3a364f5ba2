"""Prices of the site against the bill of materials."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.diagnostics.words import listed
from clustergen.facility.placement import devices
from clustergen.features.facility.bill import bill, cost
from clustergen.features.facility.runs import problems
from clustergen.features.facility.section import PriceRange, Prices
from clustergen.hostlist import compress

_MOST_NAMES = 6


def price_unused(cluster: Cluster) -> Iterator[Finding]:
    prices = cluster.of(Facility).prices
    if prices is None:
        return
    names = dict.fromkeys(name for item in bill(cluster) for name in item.price_names)
    for name in prices.items:
        if name not in names:
            yield Finding(
                "price-unused",
                ("facility", "prices", "items", name),
                f"no line of the bill of materials is called '{name}'",
                did_you_mean(name, names) or "use the names of the column item in facility/bom.csv",
                key=True,
            )


def price_range(_: Cluster, section: Prices) -> Iterator[Finding]:
    for name, price in section.items.items():
        if isinstance(price, PriceRange) and price.low > price.high:
            yield Finding(
                "price-range",
                ("facility", "prices", "items", name, "low"),
                f"the lowest price {price.low:g} of '{name}' is above the highest, {price.high:g}",
                f"write {{low: {price.high:g}, high: {price.low:g}}}",
            )


def over_budget(cluster: Cluster) -> Iterator[Finding]:
    prices = cluster.of(Facility).prices
    if prices is None or prices.budget is None:
        return
    total = cost(cluster).total
    if total.high > prices.budget:
        missing = sum(item.price is None for item in bill(cluster))
        more = f", without {missing} lines that have no price" if missing else ""
        added = [word for word, part in (("contingency", prices.contingency), ("tax", prices.tax)) if part]
        more = (f" with {' and '.join(added)}" if added else "") + more
        amount = f"{prices.currency} {total.low:,.2f}" + (f" to {total.high:,.2f}" if total.high > total.low else "")
        yield Finding(
            "over-budget",
            ("facility", "prices", "budget"),
            f"the priced lines cost {amount}{more}, and the budget is {prices.budget:,.2f}",
            f"buy for {prices.currency} {total.high - prices.budget:,.2f} less, or raise the budget",
        )


def budget_incomplete(cluster: Cluster) -> Iterator[Finding]:
    """A budget that holds only because lines have no price."""
    prices = cluster.of(Facility).prices
    if prices is None or prices.budget is None:
        return
    items = bill(cluster)
    missing = [item for item in items if item.price is None]
    if missing and cost(cluster).total.high <= prices.budget:
        names = list(dict.fromkeys(item.item for item in missing if item.item))
        more = ", see facility/bom.csv" if len(names) > _MOST_NAMES else ""
        several = "line of the bill of materials has" if len(missing) == 1 else "lines of the bill of materials have"
        yield Finding(
            "budget-incomplete",
            ("facility", "prices", "budget"),
            f"{len(missing)} {several} no price, so the budget does not cover {'it' if len(missing) == 1 else 'them'}",
            f"add prices to facility.prices.items for {listed(names, _MOST_NAMES)}{more}"
            if names
            else "state models of the devices: facility/bom.csv names the lines",
        )


def training_runs(cluster: Cluster) -> Iterator[Finding]:
    for name, run in cluster.of(Facility).training.items():
        for problem in problems(cluster, run):
            path: tuple[str | int, ...] = ("facility", "estimates", "training", name)
            yield Finding(problem.code, (*path, problem.field), problem.message, problem.hint)


def deliveries(cluster: Cluster) -> Iterator[Finding]:
    """Devices and node types that do not exist, dates that do not, and devices that two deliveries name."""
    placed, types = devices(cluster), {kind.name for kind in cluster.node_types}
    owner: dict[str, str] = {}
    for name, delivery in cluster.of(Facility).deliveries.items():
        path: ManifestPath = ("facility", "deliveries", name)
        try:
            date.fromisoformat(delivery.bought)
        except ValueError:
            yield Finding(
                "delivery-date",
                (*path, "bought"),
                f"there is no day {delivery.bought}",
                "write the date as 2027-03-31",
            )
        for field, several, candidates in (("types", delivery.types, types), ("devices", delivery.devices, placed)):
            unknown = [one for one in several if one not in candidates]
            if unknown:
                what = "node type" if field == "types" else "node or switch"
                yield Finding(
                    "delivery-device-unknown",
                    (*path, field, several.index(unknown[0])) if field == "types" else (*path, field),
                    f"'{unknown[0] if field == 'types' else compress(unknown)}' is no {what}",
                    did_you_mean(unknown[0], candidates) or f"use {one_of(candidates)}",
                )
        twice = [one for one in (*delivery.types, *delivery.devices) if one in owner]
        if twice:
            listed = twice[0] in delivery.types
            yield Finding(
                "delivery-twice",
                (*path, "types", delivery.types.index(twice[0])) if listed else (*path, "devices"),
                f"'{twice[0]}' is in delivery '{owner[twice[0]]}' as well",
                "list each device and each node type in one delivery",
            )
        owner |= dict.fromkeys((*delivery.types, *delivery.devices), name)
