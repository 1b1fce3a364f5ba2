"""The pictures of a tree, as its README.md shows them: networks first, then the racks row by row."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.views.facility.elevations import elevations
from clustergen.render.views.facility.network_pictures import network_pictures


@record
class Picture:
    """`path` is relative to the tree."""

    title: str
    path: str


def pictures(cluster: Cluster) -> tuple[Picture, ...]:
    networks = {name: picture.title for name, picture in network_pictures(cluster).items()}
    racks = {name: picture.title for name, picture in elevations(cluster).items()}
    return tuple(Picture(title, f"facility/{name}.svg") for name, title in (networks | racks).items())
