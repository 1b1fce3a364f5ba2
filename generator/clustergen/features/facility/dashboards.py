"""Coolant of loops: a row of the page of power."""

from __future__ import annotations

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.features.facility.alerts import series_of
from clustergen.render.dashboards import PageRow, Target, graph, row


def rows(cluster: Cluster) -> tuple[PageRow, ...]:
    loops = cluster.of(Facility).loops.items()
    targets = {
        kind: tuple(
            Target(series_of(loop, loop.sensors[name]), f"{loop_name} {name} {{{{instance}}}}")
            for loop_name, loop in loops
            for name in names
            if name in loop.sensors
        )
        for kind, names in (("celsius", ("inlet", "outlet")), ("flow", ("flow",)))
    }
    titles = (("Temperature of the coolant", "celsius"), ("Flow of the coolant, litres a minute", "flow"))
    panels = tuple(
        graph(title, *targets[kind], unit="celsius" if kind == "celsius" else "short", minimum=None, links=())
        for title, kind in titles
        if targets[kind]
    )
    return (PageRow("power", row("Coolant", *panels)),) if panels else ()
