"""Storage: mount points, mount options, interfaces; what kinds of file systems add is in `features/storage`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clustergen.catalogue import storage as catalogue
from clustergen.catalogue.system_paths import mountable, nearest
from clustergen.cluster.entry import Entry
from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.nodes import unknown_type
from clustergen.cluster.roles import SERVICE
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, quote
from clustergen.manifest.hardware import NodeType
from clustergen.units import Bytes

_UNSTABLE = re.compile(r"/dev/((sd|hd|vd|xvd)[a-z]+\d*|nvme\d+n\d+(p\d+)?|dm-\d+)")


def is_unstable(device: str) -> bool:
    """True if a disk's name is given in the order in which the kernel finds disks."""
    return _UNSTABLE.fullmatch(device) is not None


def mounted_over(path: ManifestPath, place: str, name: str, *, is_shared: bool) -> Iterator[Finding]:
    """A mount that hides what a node needs. `is_shared`: a file system that several nodes mount."""
    allowed, row = mountable(place), nearest(place)
    hint = f"mount it at a directory of its own, such as /mnt/{name} or /{name}"
    if allowed == "disk" and is_shared:
        message = f"every node needs files of its own in {row.path}, and '{name}', mounted at {place}, is shared"
        yield Finding("mount-over-system", path, message, f"{hint}, or use a disk of the nodes (type: local)")
    elif allowed == "never":
        whose = f" ({row.note})" if row.note else ""
        message = f"mounted at {place}, '{name}' would hide files that the system needs{whose}"
        yield Finding("mount-over-system", path, message, hint)


def mounts(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, list[tuple[str, Entry]]] = {}
    for name, entry in cluster.storage.items():
        path: ManifestPath = ("storage", name, "mount")
        place = entry.mount.rstrip("/") or "/"
        yield from mounted_over(path, place, name, is_shared=entry.is_shared)
        for other, another in seen.get(place, []):
            shared = [group for group in cluster.groups if group.is_client(entry) and group.is_client(another)]
            if shared:
                yield Finding(
                    "mount-twice",
                    path,
                    f"{shared[0].folded} already mounts '{other}' at {place}",
                    "change mount, clients or node_types",
                )
        seen.setdefault(place, []).append((name, entry))
        if not any(group.is_client(entry) for group in cluster.groups):
            of_types = f" of type {' or '.join(map(quote, entry.node_types))}" if entry.node_types else ""
            yield Finding(
                "mount-without-clients",
                entry.clients_at or ("storage", name),
                f"no node mounts '{name}': no node{of_types} has the role {' or '.join(entry.clients)}",
                "add a role to clients, or to the nodes" + (", or a type to node_types" if entry.node_types else ""),
                key=not entry.clients_at,
            )


def node_types(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    types = {*section, SERVICE}
    for name, entry in cluster.storage.items():
        for index, kind in enumerate(entry.node_types):
            path: ManifestPath = ("storage", name, "node_types", index)
            nodes = cluster.of_type.get(kind, ())
            if kind not in types:
                yield unknown_type(path, kind, types)
            elif nodes and clients_of(cluster, name) and not any(group.is_client(entry) for group in nodes):
                yield Finding(
                    "mount-without-clients",
                    path,
                    f"no node of type '{kind}' mounts '{name}': none has the role {' or '.join(entry.clients)}",
                    f"remove '{kind}' from node_types, or add a role of these nodes to clients",
                )


def mount_options(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.storage.items():
        mount_type = entry.mount_type
        for index, option in enumerate(entry.options):
            path: ManifestPath = ("storage", name, "options", index)
            yield from option_findings(path, mount_type, mount_type, option)


def option_findings(path: ManifestPath, kind: str, shown: str, text: str) -> Iterator[Finding]:
    """Unknown options are reported only where the catalogue knows a file system's options."""
    options = catalogue.mount_options(kind)
    row = catalogue.mount_option(kind, text)
    value = text.partition("=")[2]
    if row is None:
        if options:
            options += catalogue.mount_options("any")
            names = [one.option for one in options if not one.refused and catalogue.mount_option(kind, one.option)]
            yield Finding(
                "mount-option-unknown",
                path,
                f"'{text.partition('=')[0]}' is not an option of {shown} in the catalogue",
                did_you_mean(text.partition("=")[0], names),
            )
    elif row.ignored:
        yield Finding("mount-option-unknown", path, f"'{row.option}' no longer has an effect on {shown}", "remove it")
    elif row.refused:
        yield Finding(
            "mount-option-value", path, f"the mount fails with '{row.option}': {shown} refuses it", "remove it"
        )
    elif row.takes_value and not value:
        yield Finding("mount-option-value", path, f"'{row.option}' requires a value", f"write {row.option}=…")
    elif value and not row.takes_value:
        yield Finding("mount-option-value", path, f"'{row.option}' takes no value", f"write {row.option}")
    elif value and row.values and not any(_fits(allowed, value) for allowed in row.values):
        allowed_values = " or ".join(allowed.replace("..", " to ") for allowed in row.values)
        message = f"'{row.option}' must be {allowed_values}, not '{value}'"
        yield Finding("mount-option-value", path, message, _in_bytes(row, value))


def _in_bytes(row: catalogue.MountOption, value: str) -> str | None:
    """The hint for an amount with a unit where a mount option counts bytes: `rsize=1M`."""
    if not re.fullmatch("[0-9]+[KMG]", value):
        return None
    number = str(Bytes.parse(f"{value}iB").value)
    return f"write {row.option}={number}" if any(_fits(allowed, number) for allowed in row.values) else None


def _fits(allowed: str, value: str) -> bool:
    low, dots, high = allowed.partition("..")
    return value == allowed if not dots else value.isdigit() and int(low) <= int(value) <= int(high)


def rdma_possible(cluster: Cluster) -> bool:
    """True if a network of the cluster may carry RDMA: the fabric unless it is plain TCP, or a storage network."""
    networks = cluster.networks
    return networks.storage is not None or (networks.fabric is not None and networks.fabric.type != "ethernet")


def no_rdma(cluster: Cluster, path: ManifestPath) -> Finding:
    fabric = cluster.networks.fabric
    why = "the cluster has no fabric" if fabric is None else "the fabric is Ethernet without RoCE"
    return Finding(
        "rdma-without-fabric",
        path,
        f"{why} and no storage network, so no network carries RDMA",
        "add networks.fabric",
    )


def interface_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Interfaces that an entry names must be there on the nodes that mount it."""
    for name, entry in cluster.storage.items():
        requested = [(("storage", name, *path), text) for path, text in entry.listed_interfaces()]
        # What a type's ports are called is known where all of them have an interface's name.
        kinds = {
            group.type.name: group.type
            for group in cluster.groups
            if group.is_client(entry) and group.type.ports and all(port.interface for port in group.type.ports)
        }
        for path, text in requested:
            names = [port.interface for kind in kinds.values() for port in kind.ports if port.interface]
            names += [port.device for kind in kinds.values() for port in kind.ports]
            if kinds and text.partition(".")[0] not in names:
                yield Finding(
                    "interface-unknown",
                    path,
                    f"no node that mounts '{name}' has an interface '{text}'",
                    did_you_mean(text, names) or f"use one of {', '.join(dict.fromkeys(names))}",
                )


def tmpdir_shared(cluster: Cluster) -> Iterator[Finding]:
    """Per-job directories must lie on something that the nodes have of their own."""
    place = cluster.of(Scripts).tmpdir if cluster.has(Scripts) else None
    if place is None:
        return
    above = [entry for entry in cluster.storage.values() if (place + "/").startswith(entry.mount.rstrip("/") + "/")]
    above.sort(key=lambda entry: len(entry.mount), reverse=True)
    holding = (next(filter(group.is_client, above), None) for group in cluster.compute)
    if entry := next((entry for entry in holding if entry and entry.is_shared), None):
        yield Finding(
            "tmpdir-shared",
            ("slurm", "scripts", "tmpdir"),
            f"{place} is on '{entry.name}', a network file system that all nodes share",
            "use a directory on a local disk of the nodes",
        )
