"""Lustre as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.storage import lustre_client
from clustergen.cluster.annotations import Hosts
from clustergen.cluster.entry import Entry, Listening, Scope, catalogued_ports, resolved, texts
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ManifestPath
from clustergen.features.storage.lustre import section as manifest
from clustergen.hostlist import compress
from clustergen.records import copied, record
from clustergen.units import Bytes


@record
class Component:
    """A component of a progressive file layout: from the end of the previous one to `end`. `stripes`: -1 is all."""

    end: Bytes | None  # None: the rest of the file
    stripes: int
    stripe_size: Bytes | None
    pool: str | None


@record
class Striping:
    """The default layout of a directory."""

    directory: str
    components: tuple[Component, ...]


@record
class LnetNet:
    """One LNet network of a node; no interfaces: the manifest does not say which ones it has there."""

    name: str  # o2ib, tcp, o2ib1 …
    interfaces: tuple[str, ...]


@record
class LnetRoute:
    """A way to servers in an LNet network, through one router or several alike."""

    net: str
    gateways: tuple[str, ...]  # NIDs
    hop: int | None
    priority: int | None


@record
class LustreTarget:
    """A target of the servers. `device`: empty where the target is only checked; else it is created."""

    kind: str  # MGT, MDT, OST
    index: int | None
    server: str
    device: str
    size_bytes: int | None
    standby: Hosts
    pool: str


@record
class Lustre(Entry):
    """A Lustre file system. `version`: of the client, major and minor number."""

    version: str
    version_at: ManifestPath | None  # None: the first that supports the kernels of all clients
    vendor_build: bool
    mgs: tuple[str, ...]
    fsname: str
    fsname_at: ManifestPath | None  # None: the name of the entry
    subdirectory: str  # empty: all of it is mounted
    lnet: tuple[LnetNet, ...]  # empty: as the servers' networks and the nodes' interfaces are
    routes: tuple[LnetRoute, ...]
    peers: tuple[str, ...]  # NIDs of a server with commas, primary NID first
    parameters: Mapping[str, str]
    striping: tuple[Striping, ...]
    targets: tuple[LustreTarget, ...]

    def release(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")))

    @property
    def sources(self) -> tuple[str, ...]:
        return self.mgs

    @property
    def server_hosts(self) -> Hosts:
        """Hosts on which targets are created or taken over."""
        hosts = (host for target in self.targets if target.device for host in (target.server, *target.standby))
        return tuple(dict.fromkeys(hosts))

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(target.device for target in self.targets if target.device)

    def collectors(self) -> tuple[str, ...]:
        return () if all(device.startswith("/") for device in self.devices) else ("zfs",)

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        is_disk = {device.startswith("/") for device in self.devices}
        kinds = ((True, "lustre_ldiskfs"), (False, "lustre_zfs"))
        return tuple(("serve", package) for kind, package in kinds if kind in is_disk)

    def listed_interfaces(self) -> tuple[tuple[ManifestPath, str], ...]:
        return tuple(
            (("lnet", i, "interfaces", j), name)
            for i, net in enumerate(self.lnet)
            for j, name in enumerate(net.interfaces)
        )

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        """Servers connect to clients, too."""
        return catalogued_ports(("mount", "lustre"), ("serve", "lustre"))

    def manual_steps(self, _: str) -> Iterator[str]:
        name, created = self.name, [target for target in self.targets if target.device]
        if any(not target.device.startswith("/") for target in created):
            yield f"Create the ZFS pools of {name} with zpool create, each on its server, before the targets."
        if created:
            hosts = compress(self.server_hosts)
            yield (
                f"Create the targets of {name}: clustergen-lustre {name} check, then format, on {hosts}."
                f" Mount the MGT first, then MDTs, then OSTs: clustergen-lustre {name} mount."
            )
        if any(target.pool for target in created):
            yield (
                f"Create the OST pools of {name} when all targets are mounted: clustergen-lustre {name} pools on the"
                " MGS."
            )
        if any(target.standby for target in created):
            yield f"Configure Pacemaker for the targets of {name} that have standby servers."


def resolve(name: str, sections: Mapping[str, manifest.Lustre], cluster: Cluster) -> Lustre:
    section, path = sections[name], ("storage", name)
    return resolved(
        Lustre,
        name,
        section,
        version=section.version or _version(section, cluster),
        version_at=(*path, "version") if section.version else None,
        fsname=section.fsname or name,
        fsname_at=(*path, "fsname") if section.fsname else None,
        subdirectory=section.subdirectory or "",
        lnet=tuple(copied(LnetNet, net) for net in section.lnet),
        routes=tuple(copied(LnetRoute, route) for route in section.routes),
        parameters=texts(section.parameters),
        striping=tuple(
            Striping(layout.directory, tuple(map(_component, layout.components))) for layout in section.striping
        ),
        targets=tuple(map(_target, section.targets)),
    )


def _version(section: manifest.Lustre, cluster: Cluster) -> str:
    """The first that supports the kernels of all clients."""
    clients = [group for group in cluster.groups if group.is_client(section) or group.has("lnet-router")]
    return ".".join(map(str, max(map(lustre_client, [group.type.os for group in clients] or [cluster.os]))))


def _component(part: manifest.Component) -> Component:
    return copied(Component, part, end=part.end if isinstance(part.end, Bytes) else None)


def _target(target: manifest.LustreTarget) -> LustreTarget:
    size = target.size.value if target.size else None
    return copied(LustreTarget, target, device=target.device or "", size_bytes=size, pool=target.pool or "")


FILE_SYSTEM = FileSystem(
    kind="lustre",
    client_group="lustre_client",
    server_group="lustre_server",
    packages=("kernel_headers", "lustre"),
    repositories=("lustre",),
    has_releases=True,
    lab_units=("lnet.service", "clustergen-lustre-targets-*", "srv-lustre-*"),
    lab_packages=("lustre*",),
)
