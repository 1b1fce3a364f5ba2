"""Storage: mount points, Lustre's names and indices, keys and options that the clients know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue import storage as catalogue
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.cluster.model import Cluster
from clustergen.cluster.storage import lustre_fsname, serves
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.storage import Beegfs, Local, Lustre, Mount, Nfs, Weka

_FSNAME = re.compile(r"[A-Za-z0-9_-]{1,8}")
_SYSTEM = (
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
)
_STRIPE_UNIT = 65536


def mounts(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, tuple[str, Mount]] = {}
    for name, entry in cluster.manifest.storage.items():
        path: ManifestPath = ("storage", name, "mount")
        place = entry.mount.rstrip("/") or "/"
        if place in _SYSTEM:
            yield Finding("mount-over-system", path, f"'{place}' belongs to the operating system")
        if ".." in place.split("/"):
            yield Finding("mount-malformed", path, f"'{entry.mount}' has '..' in it")
        other = seen.get(place)
        if other and set(other[1].clients) & set(entry.clients):
            yield Finding("mount-twice", path, f"'{other[0]}' is mounted at {place} already")
        seen.setdefault(place, (name, entry))
        if not any(group.has(role) for group in cluster.groups for role in entry.clients):
            yield Finding(
                "mount-without-clients",
                path,
                f"no node mounts it: none has the role {' or '.join(entry.clients)}",
                key=True,
            )
        for index, option in enumerate(entry.options):
            yield from _option((*path[:-1], "options", index), entry.type, option)


def _option(path: ManifestPath, kind: str, text: str) -> Iterator[Finding]:
    """Unknown options are told only where the catalogue knows a file system's options."""
    known = catalogue.mount_options(kind)
    found = catalogue.mount_option(kind, text)
    if found is None:
        if known:
            yield Finding(
                "mount-option-unknown",
                path,
                f"'{text}' is no mount option of {kind} that the catalogue knows",
                did_you_mean(text.partition("=")[0], [option.option for option in known]),
            )
        return
    value = text.partition("=")[2]
    if found.takes_value and not value:
        yield Finding("mount-option-value", path, f"'{found.option}' wants a value", f"write {found.option}=…")
    elif value and not found.takes_value:
        yield Finding("mount-option-value", path, f"'{found.option}' takes no value")
    elif value and found.values and not any(_fits(allowed, value) for allowed in found.values):
        yield Finding("mount-option-value", path, f"'{found.option}' takes {' or '.join(found.values)}, not '{value}'")


def _fits(allowed: str, value: str) -> bool:
    low, dots, high = allowed.partition("..")
    return value == allowed if not dots else value.isdigit() and int(low) <= int(value) <= int(high)


def _lustre(cluster: Cluster) -> Iterator[tuple[str, Lustre]]:
    for name, entry in cluster.manifest.storage.items():
        if isinstance(entry, Lustre):
            yield name, entry


def lustre_names(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _lustre(cluster):
        fsname = lustre_fsname(name, entry)
        if not _FSNAME.fullmatch(fsname):
            path: ManifestPath = ("storage", name, "fsname") if entry.fsname else ("storage", name)
            yield Finding(
                "lustre-fsname",
                path,
                f"'{fsname}' is no name of a Lustre file system: 1 to 8 letters, digits, - and _",
                None if entry.fsname else "say fsname: as the servers have it",
                key=not entry.fsname,
            )


def lustre_targets(cluster: Cluster) -> Iterator[Finding]:
    """An index is needed, once for its kind, and counts on over all servers."""
    for name, entry in _lustre(cluster):
        seen: set[tuple[str, int | None]] = set()
        for position, target in enumerate(entry.targets):
            path: ManifestPath = ("storage", name, "targets", position)
            if target.kind == "MGT":
                if target.index is not None:
                    yield Finding("lustre-index", (*path, "index"), "an MGT has no index")
                continue
            if target.index is None:
                yield Finding("lustre-index", path, f"an {target.kind} needs an index")
            elif (target.kind, target.index) in seen:
                yield Finding(
                    "lustre-index",
                    (*path, "index"),
                    f"{target.kind} {target.index} is there already",
                    "count on over all servers",
                )
            seen.add((target.kind, target.index))


def lustre_parameters(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _lustre(cluster):
        for key, value in entry.parameters.items():
            path: ManifestPath = ("storage", name, "parameters", key)
            known = catalogue.lustre_tunable(key)
            if known is None:
                yield Finding(
                    "lustre-parameter-unknown",
                    path,
                    f"the catalogue knows no client parameter '{key}'",
                    did_you_mean(key, catalogue.lustre_tunables()),
                    key=True,
                )
                continue
            number = int(value) if str(value).isdigit() else None
            low, high = known.low, known.high
            if number is None:
                if low is not None or high is not None:
                    yield Finding(
                        "lustre-parameter-value", path, f"'{key}' counts {known.unit}; '{value}' is no number"
                    )
            elif (low is not None and number < low) or (high is not None and number > high):
                span = f"{low if low is not None else 0} to {high}" if high is not None else f"{low} or more"
                yield Finding(
                    "lustre-parameter-value", path, f"'{key}' counts {known.unit} and takes {span}, not {value}"
                )


def lustre_striping(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _lustre(cluster):
        for position, layout in enumerate(entry.striping):
            path: ManifestPath = ("storage", name, "striping", position)
            if not (layout.directory + "/").startswith(entry.mount.rstrip("/") + "/"):
                yield Finding(
                    "lustre-striping", (*path, "directory"), f"'{layout.directory}' does not lie in {entry.mount}"
                )
            last = 0
            for number, part in enumerate(layout.components):
                where: ManifestPath = (*path, "components", number)
                if part.end == "rest":
                    if number != len(layout.components) - 1:
                        yield Finding("lustre-striping", (*where, "end"), "'rest' is for the last component")
                else:
                    if number == len(layout.components) - 1:
                        yield Finding(
                            "lustre-striping",
                            (*where, "end"),
                            "the last component ends with 'rest', or files could not grow beyond it",
                        )
                    if part.end.value <= last:
                        yield Finding(
                            "lustre-striping",
                            (*where, "end"),
                            f"{part.end} is not behind the end of the component before",
                        )
                    if part.end.value % _STRIPE_UNIT:
                        yield Finding("lustre-striping", (*where, "end"), f"{part.end} is no multiple of 64 KiB")
                    last = part.end.value
                if part.stripes == 0:
                    yield Finding(
                        "lustre-striping",
                        (*where, "stripes"),
                        "0 stripes means the file system's default; say how many, or -1 for all",
                    )
                if part.stripe_size and part.stripe_size.value % _STRIPE_UNIT:
                    yield Finding(
                        "lustre-striping", (*where, "stripe_size"), f"{part.stripe_size} is no multiple of 64 KiB"
                    )


def beegfs(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        if not isinstance(entry, Beegfs):
            continue
        version = BeegfsVersion(entry.version)
        path: ManifestPath = ("storage", name)
        for key in entry.client_options:
            known = catalogue.beegfs_key("beegfs-client.conf", key)
            if known is None or not known.known_in(version):
                names = [row.key for row in catalogue.beegfs_keys("beegfs-client.conf", version)]
                hint = f"write {known.instead}" if known and known.instead else did_you_mean(key, names)
                yield Finding(
                    "beegfs-key-unknown",
                    (*path, "client_options", key),
                    f"BeeGFS {entry.version} has no client key '{key}'",
                    hint,
                    key=True,
                )
        if entry.rdma and cluster.manifest.networks.fabric is None:
            yield Finding("rdma-without-fabric", (*path, "rdma"), "there is no fabric to do RDMA in")


def nfs(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        if not isinstance(entry, Nfs):
            continue
        path: ManifestPath = ("storage", name)
        servers = [group for group in cluster.groups if serves(cluster, group, entry)]
        for group in servers:
            if not group.has("nfs-server"):
                yield Finding(
                    "nfs-server-role",
                    (*path, "server"),
                    f"'{entry.server}' is a node without the role nfs-server",
                    "give it the role",
                )
        if not servers and entry.export.zfs is not None:
            yield Finding(
                "nfs-export-elsewhere",
                (*path, "export"),
                f"'{entry.server}' is no node of this cluster, so nothing is exported here",
            )
        if entry.rdma and entry.nconnect:
            yield Finding("nfs-nconnect", (*path, "nconnect"), "nconnect is for TCP; RDMA has one connection")
        if entry.rdma and cluster.manifest.networks.fabric is None and cluster.manifest.networks.storage is None:
            yield Finding("rdma-without-fabric", (*path, "rdma"), "there is no network to do RDMA in")
        if entry.soft:
            yield Finding(
                "nfs-soft",
                (*path, "soft"),
                "a soft mount gives up in the middle of writes: data can be lost without a word",
                "leave it out",
            )
    used = {
        group.index
        for entry in cluster.manifest.storage.values()
        for group in cluster.groups
        if serves(cluster, group, entry)
    }
    for group in cluster.with_role("nfs-server"):
        if group.index not in used:
            yield Finding(
                "nfs-server-idle",
                ("nodes", group.index, "roles"),
                f"no storage entry of type nfs is served by {group.folded}",
            )


def zfs(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        pool = entry.export.zfs if isinstance(entry, Nfs) else None
        if pool is None:
            continue
        path: ManifestPath = ("storage", name, "export", "zfs")
        least = {"stripe": 1, "mirror": 2, "raidz1": 3, "raidz2": 4, "raidz3": 5}[pool.layout]
        width = pool.vdev_width or len(pool.disks)
        if len(pool.disks) % width:
            yield Finding(
                "zfs-layout",
                (*path, "vdev_width"),
                f"{len(pool.disks)} disks cannot be shared out among vdevs of {width}",
            )
        elif width < least:
            yield Finding(
                "zfs-layout", (*path, "layout"), f"a {pool.layout} vdev has {least} disks or more, not {width}"
            )
        every = [*pool.disks, *pool.log, *pool.cache]
        for disk in dict.fromkeys(every):
            if every.count(disk) > 1:
                yield Finding("zfs-disk-twice", (*path, "disks"), f"'{disk}' stands here {every.count(disk)} times")


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
        kinds = {
            g.type.name: g.type for g in cluster.groups if any(g.has(role) for role in entry.clients) and g.type.ports
        }
        for path, text in wanted:
            lacking = [
                kind
                for kind in kinds.values()
                if text not in {p.interface for p in kind.ports} | {p.device for p in kind.ports}
            ]
            if lacking and len(lacking) == len(kinds):
                known = [port.interface for kind in kinds.values() for port in kind.ports if port.interface]
                yield Finding(
                    "interface-unknown",
                    path,
                    f"no node that mounts '{name}' has an interface '{text}'",
                    did_you_mean(text, known),
                )


def local_disks(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.manifest.storage.items():
        if isinstance(entry, Local) and entry.device.startswith("/dev/sd"):
            yield Finding(
                "device-name-unstable",
                ("storage", name, "device"),
                f"{entry.device} may be another disk after a reboot",
                "use /dev/disk/by-id/…, LABEL= or UUID=",
            )


def scratch(cluster: Cluster) -> Iterator[Finding]:
    """Per-job directories must lie on something that the nodes have."""
    place = cluster.manifest.slurm.scripts.tmpdir
    if place is None:
        return
    mounted = [
        entry for entry in cluster.manifest.storage.values() if (place + "/").startswith(entry.mount.rstrip("/") + "/")
    ]
    if any(not isinstance(entry, Local) for entry in mounted):
        yield Finding(
            "tmpdir-shared",
            ("slurm", "scripts", "tmpdir"),
            f"'{place}' is on a shared file system; local scratch is meant",
        )


RULES = (
    mounts,
    lustre_names,
    lustre_targets,
    lustre_parameters,
    lustre_striping,
    beegfs,
    nfs,
    zfs,
    interfaces,
    local_disks,
    scratch,
)
