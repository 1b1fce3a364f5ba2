"""CephFS servers: the service specification that `ceph orch apply` reads."""

from __future__ import annotations

from collections.abc import Sequence

from clustergen.catalogue import network
from clustergen.cluster.groups import SLURM_ROLES
from clustergen.cluster.model import Cluster
from clustergen.features.storage.cephfs.resolved import Cephfs
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
    first_port: int | None = None
    """Where its range of ports starts, if not where Ceph's does."""


@record
class Specification:
    filesystem: str
    hosts: tuple[Host, ...]
    services: tuple[Service, ...]


def specification(cluster: Cluster, entry: Cephfs) -> dict[str, Specification] | None:
    if (spec := entry.servers) is None:
        return None
    hosts = tuple(Host(host, cluster.address.get(host, host), host in spec.monitors) for host in entry.server_hosts)
    services = (
        Service("mon", "", spec.monitors),
        _service(cluster, "mgr", "", spec.managers),
        _service(cluster, "mds", entry.filesystem, spec.metadata),
        *(_service(cluster, "osd", osd.host, [osd.host], osd.devices) for osd in spec.osds),
    )
    return {entry.name: Specification(entry.filesystem, hosts, services)}


def _service(
    cluster: Cluster, kind: str, identifier: str, hosts: Sequence[str], devices: tuple[str, ...] = ()
) -> Service:
    """A service that takes any free ports of Ceph's range, which contains those of Slurm's daemons."""
    shares = not set(hosts).isdisjoint(cluster.hosts(*SLURM_ROLES, "slurm-accounting"))
    return Service(kind, identifier, tuple(hosts), devices, _after_slurm() if shares else None)


def _after_slurm() -> int:
    ports = network.ports()
    ceph = ports["ceph"]
    slurm = [port.port for name, port in ports.items() if name.startswith(("slurm", "sackd"))]
    return 1 + max(port for port in slurm if ceph.port <= port <= (ceph.last or ceph.port))


FILES: tuple[File, ...] = (File("serve/etc/ceph/clustergen-{name}.spec.yaml", specification, mode=0o600, format=YAML),)
