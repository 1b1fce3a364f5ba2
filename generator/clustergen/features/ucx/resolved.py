"""UCX and Open MPI as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.features.ucx import section as manifest
from clustergen.records import record


@record
class Ucx:
    """Settings of UCX, and parameters of Open MPI. `enabled`: clustergen renders their files."""

    enabled: bool
    env: Mapping[str, str]
    mca: Mapping[str, str]


def resolve(section: manifest.Ucx, _: Cluster) -> Ucx:
    return Ucx(
        section.enabled,
        {name: str(value) for name, value in section.env.items()},
        {name: str(value) for name, value in section.mca.items()},
    )


RECORDS = {Ucx: resolve}
