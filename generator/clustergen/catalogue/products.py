"""Systems by the product names that their makers write."""

from __future__ import annotations

import re

from clustergen.catalogue.systems import system_names


def product_system(product: str) -> str | None:
    """The id of the system whose product name, without its maker or size, is in a text: NVIDIA DGX H200."""
    plain = _letters(product)
    names = {_letters(name): ident for name, ident in system_names().items()}
    within = [name for name in names if name in plain]
    around = [name for name in names if len(plain) > 5 and plain in name]
    best = max(within, key=len, default="") or min(around, key=len, default="")
    return names.get(best)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
