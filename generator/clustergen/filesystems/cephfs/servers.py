"""CephFS servers: the service specification that `ceph orch apply` reads."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.filesystems.cephfs.model import Cephfs, managers, servers
from clustergen.hostlist import expand
from clustergen.manifest.mount import Mount
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.formats import YAML


@record
class Host:
    name: str
    address: str
    is_admin: bool
    """Has Ceph's own keyring and ceph.conf, as the monitors have."""


@record
class Service:
    """A service, its hosts, and its disks if it is one of OSDs."""

    kind: str
    identifier: str
    hosts: tuple[str, ...]
    devices: tuple[str, ...] = ()


@record
class Specification:
    filesystem: str
    hosts: tuple[Host, ...]
    services: tuple[Service, ...]


def specification(cluster: Cluster, name: str, entry: Mount) -> dict[str, Specification] | None:
    if not isinstance(entry, Cephfs) or (spec := entry.servers) is None:
        return None
    monitors = expand(spec.monitors)
    hosts = tuple(Host(host, cluster.address.get(host, host), host in monitors) for host in servers(entry))
    services = (
        Service("mon", "", tuple(monitors)),
        Service("mgr", "", tuple(managers(spec))),
        Service("mds", entry.filesystem, tuple(expand(spec.metadata))),
        *(Service("osd", osd.host, (osd.host,), osd.devices) for osd in spec.osds),
    )
    return {name: Specification(entry.filesystem, hosts, services)}


FILES: tuple[File, ...] = (File("serve/etc/ceph/clustergen-{name}.spec.yaml", specification, mode=0o600, format=YAML),)
