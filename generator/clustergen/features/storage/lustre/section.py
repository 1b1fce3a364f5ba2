"""Lustre: what the manifest says of it."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from clustergen.manifest.base import AbsolutePath, Device, HostName, Options, Section, field, text
from clustergen.manifest.mount import Mount
from clustergen.manifest.quotas import ProjectQuota
from clustergen.units import Bytes

LnetName = Annotated[
    str, text(r"^(o2ib|tcp)[0-9]*$", "write o2ib or tcp, with a number where there are several: o2ib1")
]
_ADDRESS = re.compile(r"([0-9a-zA-Z._-]+|[0-9a-fA-F:]+:[0-9a-fA-F:]+)(@(?:o2ib|tcp)\d*)?(:/\w+)?")


def _as_nid(value: str, _: object) -> str | None:
    """An address without its LNet network, or with the file system behind it, as mount has it."""
    if not (match := _ADDRESS.fullmatch(value)):
        return None
    if not match[2] and not match[3] and "." not in value and ":" not in value:
        return None
    nids = [match[1] + match[2]] if match[2] else [f"{match[1]}@o2ib", f"{match[1]}@tcp"]
    which = " for InfiniBand and RoCE, or ".join(nids) + (" for Ethernet" if len(nids) > 1 else "")
    return f"write {which}" + (f", and fsname: {match[3][2:]}" if match[3] else "")


Nid = Annotated[
    str,
    text(
        r"^[A-Za-z0-9.:_-]+@(o2ib|tcp)[0-9]*$", "write address@network, as 10.0.1.5@o2ib", 255, rewrite=_as_nid
    ),
]
NidGroup = Annotated[
    str,
    text(
        r"^[A-Za-z0-9.:_-]+@(o2ib|tcp)[0-9]*(,[A-Za-z0-9.:_-]+@(o2ib|tcp)[0-9]*)*$",
        "write address@network, as 10.0.1.5@o2ib or 10.0.1.5@o2ib,10.0.0.5@tcp",
        511,
        rewrite=_as_nid,
    ),
]


PoolName = Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,14}$", "use at most 15 letters, digits, _ and -")]
TargetDevice = Annotated[
    str,
    text(
        r"^(/dev/(disk/by-id|mapper)/[A-Za-z0-9_.:-]+|[a-z][a-z0-9_-]*/[A-Za-z0-9_.-]+)$",
        "write a path below /dev/disk/by-id or /dev/mapper, or pool/dataset of ZFS",
        255,
    ),
]


class Component(Section):
    """A component of a progressive file layout: from the end of the previous one to `end`."""

    end: Bytes | Literal["rest"] = field(..., "Where it ends; the last one is `rest`.")
    stripes: Annotated[int, Field(ge=-1, le=2000)] = field(..., "OSTs it is spread over; -1 is all.")
    stripe_size: Bytes | None = field(None, "Bytes on one OST before the next; a multiple of 64 KiB.")
    pool: PoolName | None = field(None, "OST pool.")


class Striping(Section):
    """The default layout of a directory."""

    directory: AbsolutePath = field(..., "Directory; must lie in the mount.")
    components: tuple[Component, ...] = field(
        ..., "Small parts of a file on few OSTs, large ones on many.", min_length=1
    )


class LnetNet(Section):
    """An LNet network of the clients."""

    name: LnetName = field(..., "o2ib (RDMA: InfiniBand and RoCE) or tcp.")
    interfaces: tuple[Device, ...] = field(..., "Interfaces, more for multi-rail.", min_length=1)


class LnetRoute(Section):
    """A way of the clients to servers in an LNet network that they have no interface in."""

    net: LnetName = field(..., "LNet network of the servers.")
    gateways: tuple[Nid, ...] = field(..., "NIDs of the routers, in a network of the clients.", min_length=1)
    hop: Annotated[int, Field(ge=1, le=255)] | None = field(None, "Number of routers on the way, if it decides.")
    priority: Annotated[int, Field(ge=0, le=255)] | None = field(None, "The lowest is used first.")


class LustreTarget(Section):
    """A target on the servers."""

    kind: Literal["MGT", "MDT", "OST"] = field(..., "Kind.")
    index: Annotated[int, Field(ge=0, le=65535)] | None = field(
        None, "Unique for its kind in the file system; none for MGT."
    )
    server: HostName = field(..., "Where it runs; a node of the cluster if it has a device.", sample="oss1")
    device: TargetDevice | None = field(
        None, "Disk on which the target is created, or pool/dataset of ZFS; none: the target is only checked."
    )
    size: Bytes | None = field(None, "Expected size of the device; another one by more than 2 % is refused.")
    standby: tuple[HostName, ...] = field(
        (), "Servers with the same device that take over; Pacemaker mounts the target."
    )
    pool: PoolName | None = field(None, "OST pool of an OST.")


class Lustre(Mount):
    """A Lustre file system."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(
            ("server", "servers", "host", "hosts", "mgsnode", "mgsnid", "mgsnids", "mgsnodes", "mgt", "nid", "nids"),
            "mgs",
        ),
        **dict.fromkeys(("filesystem", "filesystemname", "fs", "name", "device", "path"), "fsname"),
        **dict.fromkeys(("subdir", "fileset", "directory"), "subdirectory"),
    }
    SOURCE = r"(?P<mgs>[^\s/]+@[^\s/:]+):/(?P<fsname>\w+)(?P<subdirectory>/\S+)?"
    type: Literal["lustre"] = field(..., "Kind of file system.")
    version: Annotated[str, text(r"^2\.[0-9]{1,2}$", 'write major and minor release: "2.15"')] | None = field(
        None, "Release of the client; default the first that supports the kernels of the nodes that mount it."
    )
    vendor_build: bool = field(
        False, "The client is a vendor's build, which may support kernels that this release of Lustre does not."
    )
    mgs: tuple[NidGroup, ...] = field(
        ...,
        "NIDs of the MGS; an entry for each failover node, with commas between NIDs of the same node.",
        sample="[10.1.0.21@o2ib]",
        min_length=1,
    )
    fsname: str | None = field(None, "Name of the file system, 8 characters at most; default the entry's name.")
    subdirectory: AbsolutePath | None = field(None, "Mount only this subdirectory.")
    lnet: tuple[LnetNet, ...] = field(
        (), "LNet of the clients; default made of the MGS's network and the node type's NICs."
    )
    routes: tuple[LnetRoute, ...] = field((), "Routes of LNet to servers in other networks, in addition to `lnet`.")
    peers: tuple[NidGroup, ...] = field(
        (), "Servers with several NIDs, primary NID first, where LNet does not discover them by itself."
    )
    parameters: Options = field({}, "Client parameters: {osc.*.max_rpcs_in_flight: 32}.")
    striping: tuple[Striping, ...] = field((), "Default layouts.")
    targets: tuple[LustreTarget, ...] = field(
        (), "Targets of the servers; those with a device are created and mounted on nodes of the cluster."
    )
    quotas: tuple[ProjectQuota, ...] = field((), "Limits of users, groups and projects.")


PLACES = {"storage.*.lustre": Lustre}
