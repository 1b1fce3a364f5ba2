"""The link /etc/localtime."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.time_zone.resolved import TimeZone
from clustergen.render.effects import CREATE
from clustergen.render.file import File


def timezone(cluster: Cluster) -> TimeZone | None:
    return cluster.get(TimeZone)


FILES = (File("all/etc/tmpfiles.d/clustergen-timezone.conf", timezone, CREATE),)
