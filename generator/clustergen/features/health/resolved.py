"""The health check of compute nodes as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.dcgm import dcgm_types
from clustergen.cluster.model import Cluster
from clustergen.features.health import section as manifest
from clustergen.records import copied, record

_MIN_FREE_KIB = 1 << 20


@record
class Health:
    """The health check. `ecc` holds for the epilog and `nhc` for LBNL NHC also where it is not enabled.

    `dcgm`: drain or warn, by node type where faults that DCGM reports count.
    """

    enabled: bool
    interval_s: int
    states: tuple[str, ...]  # of a node, in which it runs
    gpu_count: bool
    gpu_settings: bool
    ecc: bool
    nvlink: bool
    fabric: bool
    mounts: bool
    min_free_kib: int  # of /tmp and the spool directory
    max_temperature_c: int | None
    nhc: bool
    dcgm: Mapping[str, str]


def resolve(section: manifest.Health, cluster: Cluster) -> Health:
    names = dcgm_types(cluster) if section.dcgm is None else [kind.name for kind in cluster.node_types if kind.gpus]
    return copied(
        Health,
        section,
        interval_s=section.interval,
        nvlink=section.nvlink is not False,
        min_free_kib=section.min_free.value >> 10 if section.min_free else _MIN_FREE_KIB,
        max_temperature_c=section.max_temperature,
        dcgm={} if section.dcgm == "off" else dict.fromkeys(names, section.dcgm or "drain"),
    )


def checks_mounts(cluster: Cluster) -> bool:
    return cluster.of(Health).enabled and cluster.of(Health).mounts


RECORDS = {Health: resolve}
