"""Local disks: names that stay theirs, and nodes that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.groups import clients_of, mounts
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.storage.local.resolved import Local
from clustergen.manifest.hardware import NodeType
from clustergen.rules.storage import is_unstable
from clustergen.units import Bytes


def local_disks(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Local).items():
        if is_unstable(entry.device):
            yield Finding(
                "device-name-unstable",
                ("storage", name, "device"),
                f"the kernel numbers disks in detection order, so {entry.device} may be a different disk"
                " after a reboot",
                f"write LABEL={name[:12]}, UUID=…, or a path below /dev/disk/by-path that exists on all nodes",
            )


def data_sets(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    first = ""
    for name, entry in cluster.entries(Local).items():
        if entry.data_sets is None:
            continue
        path: ManifestPath = ("storage", name, "data_sets")
        if not cluster.has(Slurm):
            message = f"storage.{name}.data_sets works with Slurm, and the cluster has no Slurm"
            hint = 'remove it, or add slurm: {version: "24.11"} and the role slurm-controller'
            yield Finding("slurm-absent", path, message, hint, key=True)
            continue
        if first:
            message = f"'{first}' has a cache of data sets as well, and a node has one"
            yield Finding("data-sets-twice", path, message, "remove one of them", key=True)
        first = first or name
        for kind in dict.fromkeys(group.type.name for group in cluster.compute if name in mounts(cluster, group)):
            disks = section[kind].disks if kind in section else ()
            sizes = [disk.size.value for disk in disks if disk.use == "scratch"]
            if sizes and entry.data_sets.size_bytes > sum(sizes):
                yield Finding(
                    "data-sets-too-large",
                    (*path, "size"),
                    f"nodes of type '{kind}' have {Bytes(sum(sizes))} of scratch disks, less than the cache",
                    f"write size: {Bytes(sum(sizes) * 8 // 10)}, which leaves a fifth for jobs",
                )
                break


def local_disk_missing(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Types without a scratch disk that mount one, where others of the same mount list theirs."""
    having = {name for name, spec in section.items() if any(disk.use == "scratch" for disk in spec.disks)}
    for name, entry in cluster.entries(Local).items():
        types = dict.fromkeys(g.type.name for g in cluster.compute if entry.required and name in mounts(cluster, g))
        lacking = [kind for kind in types if kind in section and kind not in having]
        if having.intersection(types):
            kept = dict.fromkeys(g.type.name for g in clients_of(cluster, name) if g.type.name not in lacking)
            for kind in lacking:
                yield Finding(
                    "local-disk-missing",
                    ("node_types", kind),
                    f"nodes of type '{kind}' mount '{name}' ({entry.device}) and list no scratch disk, as others do;"
                    " without it slurmd does not start there",
                    "add it to disks with use: scratch, or leave the type out: add"
                    f" node_types: [{', '.join(kept)}] to storage.{name}",
                    key=True,
                )
