"""Alerting rules by topic: what is wrong, from when on, what it means and what to do.

A topic's function returns None where the cluster has nothing of the kind. The DCGM exporter's list of counters is made
from the fields that these expressions read, so a rule on a counter that nobody exports cannot come about.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from clustergen.cluster.model import Cluster
from clustergen.render.views.alerts.model import Topic

_FIRST = (
    "cluster", "gpu", "node", "slurm", "fabric", "storage", "kernel", "disks", "probes", "sensors", "power", "snmp",
    "logs", "expiry", "drift", "pull", "backups", "meta",
)  # fmt: skip
"""The order of the page of runbooks; other topics follow by name."""


@cache
def _modules() -> tuple[ModuleType, ...]:
    names = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return tuple(module for name in names if hasattr(module := import_module(f"{__name__}.{name}"), "topic"))


def topics(cluster: Cluster) -> dict[str, Topic]:
    """Rule files by name: what `topic` of each module of this package returns for the cluster."""
    return {topic.name: topic for module in _modules() if (topic := module.topic(cluster)) is not None}
