"""BeeGFS: what the manifest says of it."""

from typing import ClassVar, Literal

from clustergen.manifest.base import AbsolutePath, Cidr, Device, Endpoint, HostList, HostName, Options, Section, field
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import OwnerQuota


class BeegfsServers(Section):
    """Servers of a BeeGFS file system on nodes of the cluster."""

    management: HostName = field(..., "Management server.", sample="storage1")
    metadata: HostList = field(..., "Metadata servers; the first has node ID 1, and so on.", sample="storage1")
    metadata_directory: AbsolutePath = field(
        "/data/meta", "Mount point of the metadata target, the same on each of them."
    )
    storage: HostList = field(
        ..., "Storage servers; the first has node ID 1 and the target IDs 101, 102, …", sample='"storage[1-2]"'
    )
    storage_directories: tuple[AbsolutePath, ...] = field(
        ..., "Mount points of the storage targets, the same on each of them.", min_length=1, max_length=99
    )
    mirror: tuple[Literal["metadata", "storage"], ...] = field(
        (), "Mirror groups of neighbouring servers in these lists: 1 and 2, 3 and 4, …"
    )
    metadata_options: Options = field({}, "More keys of beegfs-meta.conf: {tuneNumWorkers: 64}.")
    storage_options: Options = field({}, "More keys of beegfs-storage.conf.")
    certificate: AbsolutePath = field("/etc/beegfs/cert.pem", "Certificate of the management server (8).")
    key: AbsolutePath = field("/etc/beegfs/key.pem", "Its private key (8).")


class Beegfs(Mount):
    """A BeeGFS file system."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(
            ("server", "host", "management", "managementserver", "managementhost", "mgmt", "mgmthost", "mgmtdhost"),
            "mgmtd",
        ),
        "sysmgmtdhost": "mgmtd",
    }
    type: Literal["beegfs"] = field(..., "Kind of file system.")
    version: Literal["7.4", "8.0", "8.1", "8.2", "8.3", "8.4"] = field(..., "Release; 7.4 and 8 have different keys.")
    mgmtd: Endpoint = field(..., "Management server; from 8.2 on an address.", sample="10.0.0.21")
    rdma: bool | None = field(None, "Use RDMA; default: where the fabric has it.")
    interfaces: tuple[Device, ...] = field((), "Interfaces to prefer, in order.")
    net_filter: tuple[Cidr, ...] = field((), "Only servers in these networks.")
    authentication: bool = field(True, "Authenticate with a shared secret, installed on the nodes at apply time.")
    quota: bool = field(False, "Enforce quota.")
    quotas: tuple[OwnerQuota, ...] = field((), "Limits of users and groups in the default storage pool, with quota.")
    servers: BeegfsServers | None = field(None, "Servers on nodes of the cluster; none: they are not configured.")
    client_options: Options = field({}, "More keys of beegfs-client.conf.")


PLACES = {"storage.*.beegfs": Beegfs}
