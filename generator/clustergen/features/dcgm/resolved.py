"""DCGM, as resolved."""

from __future__ import annotations

from clustergen.catalogue.versions import DcgmVersion
from clustergen.cluster.dcgm import Dcgm
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.manifest import monitoring as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied


def resolve(section: manifest.Monitoring, cluster: Cluster) -> Dcgm | None:
    """By default it manages all GPUs but GeForce, of which it reports little."""
    if not cluster.gpu_types:
        return None
    dcgm, thresholds = section.dcgm, section.thresholds
    is_wanted = dcgm.enabled
    return copied(
        Dcgm,
        dcgm,
        node_types=tuple(
            kind.name
            for kind in cluster.gpu_types
            if is_wanted or (is_wanted is None and kind.gpus and not kind.gpus.model.is_geforce)
        ),
        exports=bool(is_wanted) or (is_wanted is None and cluster.has(Monitoring)),
        version=DcgmVersion(dcgm.version),
        port_at=stated_at(dcgm, "monitoring", "dcgm", "port"),
        interval_ms=dcgm.interval,
        hot_c=thresholds.gpu_hot,
        very_hot_c=thresholds.gpu_very_hot,
        throttled=thresholds.throttled,
    )


RECORDS = {Dcgm: resolve}
