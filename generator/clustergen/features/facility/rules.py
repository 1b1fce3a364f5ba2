"""Prices of the site against the bill of materials."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.features.facility.bill import bill, total
from clustergen.features.facility.runs import problems

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


def over_budget(cluster: Cluster) -> Iterator[Finding]:
    prices = cluster.of(Facility).prices
    if prices is None or prices.budget is None:
        return
    items = bill(cluster)
    cost = total(items)
    if cost > prices.budget:
        missing = sum(item.price is None for item in items)
        more = f", without {missing} lines that have no price" if missing else ""
        yield Finding(
            "over-budget",
            ("facility", "prices", "budget"),
            f"the priced lines cost {prices.currency} {cost:,.2f}{more}, and the budget is {prices.budget:,.2f}",
            f"buy for {prices.currency} {cost - prices.budget:,.2f} less, or raise the budget",
        )


def budget_incomplete(cluster: Cluster) -> Iterator[Finding]:
    """A budget that holds only because lines have no price."""
    prices = cluster.of(Facility).prices
    if prices is None or prices.budget is None:
        return
    items = bill(cluster)
    missing = [item for item in items if item.price is None]
    if missing and total(items) <= prices.budget:
        names = list(dict.fromkeys(item.item for item in missing if item.item))
        several = "line of the bill of materials has" if len(missing) == 1 else "lines of the bill of materials have"
        yield Finding(
            "budget-incomplete",
            ("facility", "prices", "budget"),
            f"{len(missing)} {several} no price, so the budget does not cover {'it' if len(missing) == 1 else 'them'}",
            f"add prices to facility.prices.items for {_listed(names)}"
            if names
            else "state models of the devices: facility/bom.csv names the lines",
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more, see facility/bom.csv" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def training_runs(cluster: Cluster) -> Iterator[Finding]:
    for name, run in cluster.of(Facility).training.items():
        for problem in problems(cluster, run):
            path: tuple[str | int, ...] = ("facility", "estimates", "training", name)
            yield Finding(problem.code, (*path, problem.field), problem.message, problem.hint)
