"""Changed interfaces: `site.yml` installs their forms on the nodes, and activates none."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side


def steps(_: Side, __: Side) -> Iterator[ManualStep]:
    yield ManualStep("activate the interfaces with clustergen.cluster.network", "/etc/clustergen-network/")
