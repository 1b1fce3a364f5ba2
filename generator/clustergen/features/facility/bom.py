"""bom.csv: what a buyer orders, with counts, spares and prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.placement import switches_of
from clustergen.features.facility.bill import Item, bill, total
from clustergen.features.facility.csv_table import CsvTable, csv_table

_COLUMNS = (
    *("category", "item", "description", "part", "length", "length_unit", "count", "spares", "order"),
    *("price", "cost", "currency", "note"),
)


def has_facility(cluster: Cluster) -> bool:
    """True if the manifest says anything of racks, switches or the room."""
    return bool(cluster.racks or switches_of(cluster) or cluster.of(Facility).is_stated)


def bom_csv(cluster: Cluster) -> CsvTable | None:
    if not has_facility(cluster):
        return None
    prices = cluster.of(Facility).prices
    return csv_table(_COLUMNS, _rows(bill(cluster), prices.currency if prices else ""))


def _rows(items: Sequence[Item], currency: str) -> Iterator[tuple[object, ...]]:
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
            currency if item.price is not None else "",
            item.note,
        )
    if any(item.cost is not None for item in items):
        missing = sum(item.cost is None for item in items)
        note = f"{missing} {'line has' if missing == 1 else 'lines have'} no price" if missing else ""
        yield ("total", "", "", "", None, "", None, None, None, None, _money(total(items)), currency, note)


def _money(amount: float | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"
