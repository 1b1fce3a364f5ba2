"""Fields of Warewulf's nodes.conf, as its source declares them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clustergen.catalogue.tables import rows


@cache
def fields_by_section() -> Mapping[str, Mapping[str, str]]:
    """Section → field → value: text, list, texts, flag, address, mac, section:NAME or sections:NAME."""
    sections: dict[str, dict[str, str]] = {}
    for row in rows("warewulf_fields.tsv"):
        sections.setdefault(row["section"], {})[row["field"]] = row["value"]
    return sections
