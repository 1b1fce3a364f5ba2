"""CephFS as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.annotations import Hosts
from clustergen.cluster.entry import Entry, Listening, Scope, SecretFile, catalogued_ports, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.features.storage.cephfs import section as manifest
from clustergen.hostlist import expand
from clustergen.records import copied, record


@record
class Osds:
    """Disks of one host, each an OSD."""

    host: str
    devices: tuple[str, ...]


@record
class CephServers:
    """Hosts of the daemons, and disks; the first monitor has the specification."""

    monitors: Hosts
    managers: Hosts
    metadata: Hosts
    osds: tuple[Osds, ...]


@record
class Cephfs(Entry):
    """A CephFS file system."""

    monitors: tuple[str, ...]
    fsid: str
    filesystem: str
    user: str
    path: str  # empty: the root directory
    mounter: str  # kernel, fuse
    servers: CephServers | None
    conf: str  # name of its ceph.conf without the suffix

    @property
    def mount_type(self) -> str:
        return "fuse.ceph" if self.mounter == "fuse" else "ceph"

    @property
    def sources(self) -> tuple[str, ...]:
        return self.monitors

    @property
    def server_hosts(self) -> Hosts:
        """The host that has the specification comes first."""
        if self.servers is None:
            return ()
        spec = self.servers
        return tuple(
            dict.fromkeys((*spec.monitors, *spec.managers, *spec.metadata, *(osds.host for osds in spec.osds)))
        )

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(device for osds in self.servers.osds for device in osds.devices) if self.servers else ()

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        client: tuple[Scope, str] = ("mount", "cephfs" if self.mounter == "kernel" else "ceph_fuse")
        return (client, ("mount", "xattr")) if self.quotas else (client,)

    @property
    def secret(self) -> SecretFile:
        """The key of the CephX user, put there at apply time."""
        return SecretFile(f"/etc/ceph/clustergen-{self.name}.secret", "0600")

    @property
    def is_mountable_in_lab(self) -> bool:
        return self.mounter == "fuse"

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        return catalogued_ports(("serve", "ceph-mon"), ("serve", "ceph-mon-v1"), ("serve", "ceph"))

    def manual_steps(self, _: str) -> Iterator[str]:
        if self.servers:
            path = f"/etc/ceph/clustergen-{self.name}.spec.yaml"
            yield (
                f"Bootstrap Ceph for {self.name} on {self.server_hosts[0]} with cephadm, then ceph orch apply -i {path}"
                " --dry-run, and without --dry-run when it shows these disks alone."
            )


def resolve(name: str, sections: Mapping[str, manifest.Cephfs], _: Cluster) -> Cephfs:
    """The first Ceph cluster has the file that Ceph's own tools look for."""
    section = sections[name]
    return resolved(
        Cephfs,
        name,
        section,
        path=section.path or "",
        servers=_servers(section.servers) if section.servers else None,
        conf="ceph" if name == next(iter(sections)) else name,
    )


def _servers(spec: manifest.CephServers) -> CephServers:
    monitors = tuple(expand(spec.monitors))
    return CephServers(
        monitors=monitors,
        managers=tuple(expand(spec.managers)) if spec.managers else monitors[:2],
        metadata=tuple(expand(spec.metadata)),
        osds=tuple(copied(Osds, osds) for osds in spec.osds),
    )


FILE_SYSTEM = FileSystem(
    kind="cephfs",
    client_group="cephfs_client",
    repositories=("ceph",),
    lab_packages=("cephfs", "ceph_fuse"),
)
