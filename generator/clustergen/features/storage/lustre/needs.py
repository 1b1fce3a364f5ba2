"""Contributions of Lustre to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Service
from clustergen.cluster.model import Cluster


def services(_: Cluster) -> Iterator[Service]:
    yield Service("lustre_client", "lnet")
    yield Service("lustre_server", "lnet")
