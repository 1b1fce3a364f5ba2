"""RoCE in a fabric that is none."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.networks import Fabric
from clustergen.rules.fabric import unused_of_fabric


def without_effect(_: Cluster, section: Fabric) -> Iterator[Finding]:
    if section.type != "roce":
        yield from unused_of_fabric(section, ("roce",), "the fabric is not RoCE")
