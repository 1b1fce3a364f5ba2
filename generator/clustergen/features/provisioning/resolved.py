"""Nodes that a Warewulf server boots over the network, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.features.provisioning import section as manifest
from clustergen.records import copied, record


@record
class Provisioning:
    """`images`: by node type. `overlays`, `profiles`: of the server, before the tree's; None: Warewulf's usual ones."""

    engine: str
    images: Mapping[str, str]
    overlays: tuple[str, ...] | None
    profiles: tuple[str, ...]


def resolve(section: manifest.Provisioning, _: Cluster) -> Provisioning:
    return copied(Provisioning, section)


RECORDS = {Provisioning: resolve}
