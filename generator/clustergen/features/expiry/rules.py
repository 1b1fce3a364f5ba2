"""Dates of licences and contracts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.monitoring import Monitoring


def dates(_: Cluster, section: Monitoring) -> Iterator[Finding]:
    for name, day in section.expires.items():
        try:
            date.fromisoformat(day)
        except ValueError:
            yield Finding(
                "value-out-of-range",
                ("monitoring", "expires", name),
                f"{day} is not a day of the calendar",
                "write year, month and day, as 2027-03-31",
            )
