"""Which metrics this cluster's Prometheus has: what the exporters serve, and what recording rules make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.cluster.contributions import Exported
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.render.views.alerts import topics

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_MATCHERS = re.compile(r"\{[^}]*\}")
_LABELS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
_NAME = re.compile(r"(?<![\w:$])(?:[a-z]+:)?[A-Za-z_][\w:]*\b(?!\s*\()")
_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "inf"})
_DURATION = re.compile(r"\[[^\]]*\]|\boffset\s+\w+")


def metrics_of(expr: str) -> set[str]:
    """The names of the metrics that an expression reads."""
    for pattern in (_STRINGS, _MATCHERS, _DURATION, _LABELS):
        expr = pattern.sub(" ", expr)
    return {name for name in _NAME.findall(expr) if name not in _WORDS}


@once_per_cluster
def exported(cluster: Cluster) -> frozenset[str]:
    return frozenset(_exported(cluster))


def _exported(cluster: Cluster) -> Iterator[str]:
    yield "up"
    yield "ALERTS"
    for topic in topics(cluster).values():
        yield from (rule.name for rule in topic.recordings)
    for program in cluster.needs(Exported):
        yield from program.metrics
