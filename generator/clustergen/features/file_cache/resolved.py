"""The cache of NFS files, as resolved."""

from __future__ import annotations

from clustergen.cluster.host import FileCache
from clustergen.cluster.model import Cluster
from clustergen.cluster.named_rows import Configurations
from clustergen.features.file_cache import section as manifest
from clustergen.manifest.host import Host
from clustergen.records import copied


def resolve(section: Host, cluster: Cluster) -> FileCache | None:
    stated = cluster.of(Configurations).of_type
    types = (kind.name for kind in cluster.node_types if kind.name in stated)
    caching = tuple(name for name in types if any(disk.use == "cache" for disk in stated[name].disks))
    return copied(FileCache, section.file_cache or manifest.FileCache(), types=caching) if caching else None


RECORDS = {FileCache: resolve}
