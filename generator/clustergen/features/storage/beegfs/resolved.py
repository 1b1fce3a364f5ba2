"""BeeGFS as resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.network import ports
from clustergen.cluster.annotations import Hosts
from clustergen.cluster.entry import Entry, Listening, QuotaTool, Scope, SecretFile, resolved, texts
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.features.storage.beegfs import network
from clustergen.features.storage.beegfs import section as manifest
from clustergen.hostlist import compress, expand
from clustergen.records import copied, record


@record
class BeegfsServers:
    """Servers on nodes of the cluster. A server's place in its list makes its node ID and those of its targets."""

    management: str
    metadata: Hosts
    metadata_directory: str
    storage: Hosts
    storage_directories: tuple[str, ...]
    mirror: tuple[str, ...]  # metadata, storage
    metadata_options: Mapping[str, str]
    storage_options: Mapping[str, str]
    certificate: str
    key: str


@record
class Beegfs(Entry):
    """A BeeGFS file system."""

    version: str
    mgmtd: str  # host, or host:port
    rdma: bool
    interfaces: tuple[str, ...]
    net_filter: tuple[str, ...]
    secret_path: str  # empty: authentication is off
    quota: bool
    servers: BeegfsServers | None
    client: str  # name of its configuration without the suffix
    client_port: int  # of the client on its node
    client_options: Mapping[str, str]

    @property
    def is_8(self) -> bool:
        """One port key each in place of TCP and UDP ones; no helper daemon; the management server reads TOML."""
        return self.version != "7.4"

    @property
    def management_address(self) -> str:
        """Where the management server of 8 listens for the program `beegfs`."""
        host, port = network.split_port(self.mgmtd)[0], ports()["beegfs-grpc"].port
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.mgmtd,)

    @property
    def server_hosts(self) -> Hosts:
        """The management server comes first."""
        spec = self.servers
        return tuple(dict.fromkeys((spec.management, *spec.metadata, *spec.storage))) if spec else ()

    @property
    def packages(self) -> tuple[tuple[Scope, str], ...]:
        release = "8" if self.is_8 else "7"
        client: tuple[Scope, str] = ("mount", f"beegfs_{release}")
        return (("serve", f"beegfs_server_{release}"), client) if self.servers else (client,)

    def quota_tool(self) -> QuotaTool:
        """beegfs-ctl of 7.4 reads the client's settings; the program of 8 has its settings in the environment."""
        if not self.is_8:
            return QuotaTool("mount", "beegfs-ctl", self.mount, self.mount)
        environment = {"BEEGFS_MGMTD_ADDR": self.management_address}
        if self.servers:
            environment["BEEGFS_TLS_CERT_FILE"] = self.servers.certificate
        secret = {"BEEGFS_AUTH_FILE": self.secret_path} if self.secret_path else {"BEEGFS_AUTH_DISABLE": "true"}
        return QuotaTool("mount", "beegfs", self.mount, self.mount, {**environment, **secret})

    @property
    def secret(self) -> SecretFile | None:
        return SecretFile(self.secret_path, "0400") if self.secret_path else None

    def listening(self, _: Mapping[str, Entry]) -> Iterator[Listening]:
        return network.listening(self)

    def manual_steps(self, _: str) -> Iterator[str]:
        if self.servers:
            name = self.name
            yield (
                f"Create the targets of {name}: mount their file systems, then clustergen-beegfs {name} check, format"
                f" and start, on the management server first, then on {compress(self.server_hosts)}."
            )
            if self.servers.mirror:
                yield (
                    f"Create the mirror groups of {name} before data are written: clustergen-beegfs {name} mirror on"
                    f" {self.servers.management}, when all servers run."
                )
            if self.is_8:
                yield f"Install the certificate and key of the management server of {name}, and the licence of BeeGFS."


def resolve(name: str, sections: Mapping[str, manifest.Beegfs], cluster: Cluster) -> Beegfs:
    """The first file system has the file names that BeeGFS's own tools look for; each has a client port of its own."""
    section, rank = sections[name], list(sections).index(name)
    fabric = cluster.networks.fabric
    secret = f"/etc/beegfs/conn-{name}.auth" if rank else "/etc/beegfs/conn.auth"
    spec = section.servers
    return resolved(
        Beegfs,
        name,
        section,
        rdma=fabric is not None and fabric.type != "ethernet" if section.rdma is None else section.rdma,
        secret_path=secret if section.authentication else "",
        servers=copied(
            BeegfsServers,
            spec,
            metadata=tuple(expand(spec.metadata)),
            storage=tuple(expand(spec.storage)),
            metadata_options=texts(spec.metadata_options),
            storage_options=texts(spec.storage_options),
        )
        if spec
        else None,
        client=f"beegfs-client-{name}" if rank else "beegfs-client",
        client_port=ports()["beegfs-client"].port + 10 * rank,
        client_options=texts(section.client_options),
    )


FILE_SYSTEM = FileSystem(
    kind="beegfs",
    client_group="beegfs_client",
    server_group="beegfs_server",
    packages=("kernel_headers",),
    has_releases=True,
    monitored_units=("beegfs-.+",),
    lab_units=("beegfs-*",),
    lab_packages=("beegfs*",),
)
