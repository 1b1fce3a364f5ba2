"""bom.csv: what a buyer orders, with counts, spares and prices."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.facility import Facility, Prices
from clustergen.cluster.model import Cluster
from clustergen.facility.placement import switches_of
from clustergen.features.facility.bill import Amount, Cost, bill, cost
from clustergen.features.facility.csv_table import CsvTable, csv_table

_COLUMNS = (
    *("category", "item", "description", "part", "length", "length_unit", "count", "spares", "order"),
    *("price", "cost", "price_high", "cost_high", "currency", "note"),
)


def has_facility(cluster: Cluster) -> bool:
    """True if the manifest says anything of racks, switches or the room."""
    return bool(cluster.racks or switches_of(cluster) or cluster.of(Facility).is_stated)


def bom_csv(cluster: Cluster) -> CsvTable | None:
    if not has_facility(cluster):
        return None
    return csv_table(_COLUMNS, _rows(cluster))


def _rows(cluster: Cluster) -> Iterator[tuple[object, ...]]:
    prices = cluster.of(Facility).prices
    currency = prices.currency if prices else ""
    items = bill(cluster)
    for item in items:
        yield (
            *(
                item.category,
                item.item,
                item.description,
                item.part,
                None if item.length_m is None else f"{item.length_m:g}",
            ),
            "m" if item.length_m is not None else "",
            *(item.count, item.spares, item.ordered, _money(item.price), _money(item.cost)),
            *((_money(item.price_high), _money(item.cost_high)) if item.price != item.price_high else (None, None)),
            currency if item.price is not None else "",
            item.note,
        )
    if prices and any(item.cost is not None for item in items):
        missing = sum(item.cost is None for item in items)
        note = f"{missing} {'line has' if missing == 1 else 'lines have'} no price" if missing else ""
        for name, percent, amount in sums(cost(cluster), prices):
            words = f"{percent:g} %" if percent else note if name == "total" else ""
            high = _money(amount.high) if amount.high != amount.low else None
            yield (name, "", "", "", None, "", None, None, None, None, _money(amount.low), None, high, currency, words)


def sums(money: Cost, prices: Prices) -> Iterator[tuple[str, float, Amount]]:
    """Name, percentage and amount of the rows below the lines; without contingency and tax, the total alone."""
    if prices.contingency or prices.tax:
        yield "lines", 0, money.lines
    if prices.contingency:
        yield "contingency", prices.contingency * 100, money.contingency
    if prices.tax:
        yield "tax", prices.tax * 100, money.tax
    yield "total", 0, money.total


def _money(amount: float | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"
