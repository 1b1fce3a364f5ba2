"""Storage: mount points, mount options, interfaces, BeeGFS's keys, local disks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue import storage as catalogue
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.storage import Beegfs, Local, Lustre, Mount, Nfs, Weka

# Mounting over these, or anywhere below, hides what the system itself has there.
_SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys")
# Over these only; below them a file system of its own is usual.
_SYSTEM_ITSELF = ("/", "/home/root", "/opt", "/srv", "/tmp", "/usr", "/var")
_SYSTEM_BELOW = (
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/sbin",
    "/usr/share",
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/var/lib/slurm",
)
_KINDS = {"weka": "wekafs", "cephfs": "ceph"}  # where mount(8) has another name
_UNSTABLE = re.compile(r"/dev/(sd|hd|vd|xvd)[a-z]+\d*")


def is_unstable(device: str) -> bool:
    """Whether a disk's name is given in the order in which the kernel finds disks."""
    return _UNSTABLE.fullmatch(device) is not None


def covers_system(place: str) -> bool:
    below = any((place + "/").startswith(folder + "/") for folder in (*_SYSTEM, *_SYSTEM_BELOW))
    return place in _SYSTEM_ITSELF or below


def mounts(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, list[tuple[str, Mount]]] = {}
    for name, entry in cluster.manifest.storage.items():
        path: ManifestPath = ("storage", name, "mount")
        place = entry.mount.rstrip("/") or "/"
        if {".", ".."} & set(place.split("/")):
            yield Finding("mount-malformed", path, f"'{entry.mount}' is not written straight", "without . and ..")
        elif covers_system(place):
            yield Finding(
                "mount-over-system",
                path,
                f"mounted at {place}, '{name}' would hide files of the operating system",
                f"a place of its own, as /mnt/{name} or /{name}",
            )
        for other, there in seen.get(place, []):
            shared = [group for group in cluster.groups if _mounts(group.roles, entry) and _mounts(group.roles, there)]
            if shared:
                yield Finding(
                    "mount-twice",
                    path,
                    f"{shared[0].folded} has '{other}' at {place} already",
                    "another place, or other clients",
                )
        seen.setdefault(place, []).append((name, entry))
        if not any(_mounts(group.roles, entry) for group in cluster.groups):
            yield Finding(
                "mount-without-clients",
                ("storage", name, "clients") if "clients" in entry.model_fields_set else ("storage", name),
                f"no node mounts '{name}': none has the role {' or '.join(entry.clients)}",
                "add roles to clients, or to nodes",
                key="clients" not in entry.model_fields_set,
            )


def _mounts(roles: tuple[str, ...], entry: Mount) -> bool:
    return any(role in entry.clients for role in roles)


def mount_options(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        kind: str = entry.type
        for index, option in enumerate(entry.options):
            yield from _option(("storage", name, "options", index), _KINDS.get(kind, kind), kind, option)
        if isinstance(entry, Nfs):
            for index, option in enumerate(entry.export.options):
                yield from _option(("storage", name, "export", "options", index), "exports", "an NFS export", option)


def _option(path: ManifestPath, kind: str, shown: str, text: str) -> Iterator[Finding]:
    """Unknown options are told only where the catalogue knows a file system's options."""
    known = catalogue.mount_options(kind)
    found = catalogue.mount_option(kind, text)
    value = text.partition("=")[2]
    if found is None:
        if known:
            yield Finding(
                "mount-option-unknown",
                path,
                f"the catalogue knows no option '{text.partition('=')[0]}' of {shown}",
                did_you_mean(text.partition("=")[0], [option.option for option in known]),
            )
    elif found.ignored:
        yield Finding(
            "mount-option-unknown", path, f"'{found.option}' has no effect on {shown} any more", "leave it out"
        )
    elif found.takes_value and not value:
        yield Finding("mount-option-value", path, f"'{found.option}' wants a value", f"write {found.option}=…")
    elif value and not found.takes_value:
        yield Finding("mount-option-value", path, f"'{found.option}' takes no value", f"write {found.option}")
    elif value and found.values and not any(_fits(allowed, value) for allowed in found.values):
        wanted = " or ".join(allowed.replace("..", " to ") for allowed in found.values)
        yield Finding("mount-option-value", path, f"'{found.option}' takes {wanted}, not '{value}'")


def _fits(allowed: str, value: str) -> bool:
    low, dots, high = allowed.partition("..")
    return value == allowed if not dots else value.isdigit() and int(low) <= int(value) <= int(high)


def rdma_possible(cluster: Cluster) -> bool:
    """Whether a network of the cluster may carry RDMA: the fabric unless it is plain TCP, or a storage network."""
    networks = cluster.manifest.networks
    return networks.storage is not None or (networks.fabric is not None and networks.fabric.type != "ethernet")


def no_rdma(cluster: Cluster, path: ManifestPath) -> Finding:
    fabric = cluster.manifest.networks.fabric
    why = "there is no fabric" if fabric is None else "the fabric is plain Ethernet, for TCP only"
    return Finding(
        "rdma-without-fabric",
        path,
        f"{why}, and no storage network, so nothing carries RDMA",
        "describe networks.fabric",
    )


def beegfs(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        if not isinstance(entry, Beegfs):
            continue
        version = BeegfsVersion(entry.version)
        path: ManifestPath = ("storage", name)
        for key in entry.client_options:
            known = catalogue.beegfs_key("beegfs-client.conf", key)
            newer = catalogue.beegfs_key("beegfs-client.conf", known.instead) if known and known.instead else None
            where: ManifestPath = (*path, "client_options", key)
            if newer is not None and newer.known_in(version):
                yield Finding(
                    "beegfs-key-unknown",
                    where,
                    f"'{key}' has another name since BeeGFS {newer.since}; old and new in one file stop the mount",
                    f"write {newer.key}",
                    key=True,
                )
            elif known is None or not known.known_in(version):
                late = known is not None and known.since is not None and version < known.since
                when = f": it is there from {known.since} on" if known and late else ""
                names = [row.key for row in catalogue.beegfs_keys("beegfs-client.conf", version)]
                yield Finding(
                    "beegfs-key-unknown",
                    where,
                    f"BeeGFS {entry.version} has no client key '{key}'{when}",
                    None if late else did_you_mean(key, names),
                    key=True,
                )
        if entry.rdma and not rdma_possible(cluster):
            yield no_rdma(cluster, (*path, "rdma"))


def interfaces(cluster: Cluster) -> Iterator[Finding]:
    """Interfaces that an entry names must be there on the nodes that mount it."""
    for name, entry in cluster.manifest.storage.items():
        wanted: list[tuple[ManifestPath, str]] = []
        if isinstance(entry, Weka | Beegfs):
            wanted = [(("storage", name, "interfaces", index), text) for index, text in enumerate(entry.interfaces)]
        elif isinstance(entry, Lustre):
            wanted = [
                (("storage", name, "lnet", i, "interfaces", j), text)
                for i, net in enumerate(entry.lnet)
                for j, text in enumerate(net.interfaces)
            ]
        # What a type's ports are called is known where all of them have an interface's name.
        kinds = {
            group.type.name: group.type
            for group in cluster.groups
            if _mounts(group.roles, entry) and group.type.ports and all(port.interface for port in group.type.ports)
        }
        for path, text in wanted:
            known = [port.interface for kind in kinds.values() for port in kind.ports if port.interface]
            known += [port.device for kind in kinds.values() for port in kind.ports]
            if kinds and text.partition(".")[0] not in known:
                yield Finding(
                    "interface-unknown",
                    path,
                    f"no node that mounts '{name}' has an interface '{text}'",
                    did_you_mean(text, known) or f"they have {', '.join(dict.fromkeys(known))}",
                )


def local_disks(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        if isinstance(entry, Local) and is_unstable(entry.device):
            yield Finding(
                "device-name-unstable",
                ("storage", name, "device"),
                f"{entry.device} may be another disk after a reboot: the kernel counts them as it finds them",
                f"LABEL={name.upper()}, or a name below /dev/disk/by-path that all these nodes have",
            )


def scratch(cluster: Cluster) -> Iterator[Finding]:
    """Per-job directories must lie on something that the nodes have of their own."""
    place = cluster.manifest.slurm.scripts.tmpdir
    if place is None:
        return
    above = [
        (entry.mount.rstrip("/"), name, entry)
        for name, entry in cluster.manifest.storage.items()
        if "slurm-compute" in entry.clients and (place + "/").startswith(entry.mount.rstrip("/") + "/")
    ]
    _, name, entry = max(above, default=("", "", None), key=lambda item: len(item[0]))
    if entry is not None and not isinstance(entry, Local):
        yield Finding(
            "tmpdir-shared",
            ("slurm", "scripts", "tmpdir"),
            f"{place} lies on '{name}', which all nodes share over the network",
            "a folder on a disk of the nodes",
        )


RULES = (mounts, mount_options, beegfs, interfaces, local_disks, scratch)
