"""Marks on fields of the cluster that say how the printed model treats them."""

from __future__ import annotations

from typing import Annotated

HOSTS = "hosts"
Hosts = Annotated[tuple[str, ...], HOSTS]
"""Host names, addresses or others that fold into a list."""
WORDING = "wording"
Wording = Annotated[str, WORDING]
"""The manifest's own words, for the carets of diagnostics: no part of the printed model."""
