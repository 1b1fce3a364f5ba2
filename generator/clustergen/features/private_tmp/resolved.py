"""Directories of each job's own as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.private_tmp import section as manifest
from clustergen.records import copied, record


@record
class PrivateTmp:
    """Directories of each job's own, below `path`. `shared`: jobs see what is mounted while they run."""

    path: str
    directories: tuple[str, ...]
    shared: bool


def resolve(section: manifest.PrivateTmp, _: Cluster) -> PrivateTmp:
    return copied(PrivateTmp, section)


RECORDS = {PrivateTmp: resolve}
