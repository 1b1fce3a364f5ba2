"""Central logs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.logs.section import Logs
from clustergen.units import Bytes, Duration

_DAY = 86400  # seconds
_LEAST_STORE = Bytes.parse("1GiB")
_LEAST_QUEUE = Bytes.parse("16MiB")  # four files


def log_collector_missing(cluster: Cluster, section: Logs) -> Iterator[Finding]:
    if section.model_fields_set and not cluster.hosts("log-collector"):
        yield Finding(
            "log-collector-missing",
            ("logs",),
            "logs has no effect: no node has the role log-collector, so no logs are collected",
            "add the role log-collector to a node",
            key=True,
        )


def bounds(_: Cluster, section: Logs) -> Iterator[Finding]:
    retentions: list[tuple[tuple[str, ...], Duration]] = [(("logs", "retention"), section.retention)]
    if section.search:
        retentions.append((("logs", "search", "retention"), section.search.retention))
    for path, retention in retentions:
        if retention.seconds is not None and retention.seconds < _DAY:
            yield Finding(
                "value-out-of-range",
                path,
                f"a retention of {retention} is less than a day, but logs are deleted day by day",
                "write 1d or longer",
            )
    for name, size, least in (
        ("retention_size", section.retention_size, _LEAST_STORE),
        ("queue_size", section.queue_size, _LEAST_QUEUE),
    ):
        if size < least:
            yield Finding(
                "value-out-of-range", ("logs", name), f"{size} is less than {least}", f"write {least} or more"
            )
