"""Marks on fields of the cluster that say how the printed model treats them."""

from __future__ import annotations

from typing import Annotated

from clustergen.units import Bytes

HOSTS = "hosts"
Hosts = Annotated[tuple[str, ...], HOSTS]
"""Host names, addresses or others that fold into a list."""
INTERNAL = "internal"
"""No part of the printed model."""
Wording = Annotated[str, INTERNAL]
"""The manifest's own words, for the carets of diagnostics."""
FITTED = "fitted"
"""A placeholder unless the record `is_resolved`: printed as null."""


class Unit(str):
    """Unit of the printed number: its name ends in it."""

    __slots__ = ()


MIB = Unit("mib")
Mib = Annotated[Bytes, MIB]
"""Memory, which Slurm counts in MiB."""
