"""Contributions of the machine room to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Exported, Picture
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster


def pictures(cluster: Cluster) -> Iterator[Picture]:
    """Networks first, then the racks row by row."""
    from clustergen.features.facility.elevations import elevations  # which validate does not load
    from clustergen.features.facility.network_pictures import network_pictures

    networks = {name: picture.title for name, picture in network_pictures(cluster).items()}
    racks = {name: picture.title for name, picture in elevations(cluster).items()}
    for name, title in (networks | racks).items():
        yield Picture(title, f"facility/{name}.svg")


def exported(cluster: Cluster) -> Iterator[Exported]:
    """Metrics of coolant sensors that devices of the site have; those of the IPMI exporter are its own feature's."""
    series = [sensor.series for loop in cluster.of(Facility).loops.values() for sensor in loop.sensors.values()]
    metrics = dict.fromkeys(one.partition("{")[0] for one in series)
    if others := tuple(metric for metric in metrics if not metric.startswith("ipmi_")):
        yield Exported(others)
