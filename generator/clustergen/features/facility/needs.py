"""Contributions of the machine room to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Picture
from clustergen.cluster.model import Cluster


def pictures(cluster: Cluster) -> Iterator[Picture]:
    """Networks first, then the racks row by row."""
    from clustergen.features.facility.elevations import elevations  # which validate does not load
    from clustergen.features.facility.network_pictures import network_pictures

    networks = {name: picture.title for name, picture in network_pictures(cluster).items()}
    racks = {name: picture.title for name, picture in elevations(cluster).items()}
    for name, title in (networks | racks).items():
        yield Picture(title, f"facility/{name}.svg")
