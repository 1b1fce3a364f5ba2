"""All files that a render can make, family by family."""

from __future__ import annotations

from clustergen.render.file import File
from clustergen.render.views import FAMILIES


def files() -> tuple[File, ...]:
    """All rows of the registry."""
    return tuple(file for family in FAMILIES for file in family.FILES)
