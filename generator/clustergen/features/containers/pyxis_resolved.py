"""Containers in jobs as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.containers import pyxis_section as manifest
from clustergen.records import copied, record

REQUIRES = "slurm"

PLUGIN = "/usr/local/lib/slurm/spank_pyxis.so"
"""Where pyxis is installed when the tree is applied: it has to be compiled against the very release of Slurm."""


@record
class Pyxis:
    """enroot and pyxis: srun --container-image."""

    runtime_path: str
    scope: str
    cache: str


def resolve(section: manifest.Pyxis, _: Cluster) -> Pyxis | None:
    return copied(Pyxis, section) if section.enabled else None


RECORDS = {Pyxis: resolve}
