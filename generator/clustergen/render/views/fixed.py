"""The view of a file in which nothing is filled in: it is there or it is not."""

from __future__ import annotations

from clustergen.records import record


@record
class Fixed:
    """No fields."""
