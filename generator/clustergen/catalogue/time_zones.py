"""Time zones of tzdata, the present ones and old names of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clustergen.catalogue.tables import rows


@cache
def time_zones() -> Mapping[str, str]:
    """Zone → its present name where it is an old one, else empty."""
    return {row["name"]: row["now"] for row in rows("time_zones.tsv")}
