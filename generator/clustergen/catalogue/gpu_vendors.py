"""Makers of GPUs other than NVIDIA, recognized by the names of their products."""

from __future__ import annotations

import re
from functools import cache

from clustergen.catalogue.tables import rows


@cache
def _names() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(row["name"]), row["vendor"]) for row in rows("gpu_vendors.tsv"))


def other_vendor(name: str) -> str | None:
    """The maker of a GPU by model (`mi300x`) or driver name (`AMD Instinct MI300X`); None where it may be NVIDIA."""
    plain = name.lower().replace("-", " ").replace("_", " ").strip()
    return next((vendor for pattern, vendor in _names() if pattern.match(plain)), None)
