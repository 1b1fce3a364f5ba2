"""/etc/hosts, as resolved."""

from __future__ import annotations

from clustergen.cluster.host import HostsFile
from clustergen.cluster.model import Cluster
from clustergen.manifest.host import Host


def resolve(section: Host, _: Cluster) -> HostsFile:
    return HostsFile(section.hosts_file, section.extra_hosts)


RECORDS = {HostsFile: resolve}
