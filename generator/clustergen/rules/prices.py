"""Prices of the site against the bill of materials."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.facility.bom import bill, total


def prices_unused(cluster: Cluster) -> Iterator[Finding]:
    prices = cluster.manifest.facility.prices
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
    prices = cluster.manifest.facility.prices
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


RULES = (prices_unused, over_budget)
