"""Arguments of a daemon, in the file that its unit reads them from."""

from __future__ import annotations

from typing import Any

from clustergen.records import record
from clustergen.render.effects import Effect, reload, restart

SOURCE = "monitoring/etc/default/prometheus-blackbox-exporter"
"""The template of exporters."""


@record
class Arguments:
    """A daemon's command line."""

    unit: str
    arguments: tuple[str, ...]


def reloads(view: Any) -> Effect:
    """Effect of a file whose view names its unit, which rereads it."""
    return reload(view.unit)


def restarts(view: Any) -> Effect:
    """Effect of a file whose view names its unit, which reads it when it starts."""
    return restart(view.unit)
