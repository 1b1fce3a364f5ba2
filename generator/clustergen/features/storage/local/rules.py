"""Local disks: names that stay theirs, and nodes that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.storage.local.resolved import Local
from clustergen.manifest.hardware import NodeType
from clustergen.rules.storage import is_unstable


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


def local_disk_missing(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Types without a scratch disk that mount one, where others of the same mount list theirs."""
    having = {name for name, spec in section.items() if any(disk.use == "scratch" for disk in spec.disks)}
    for name, entry in cluster.entries(Local).items():
        types = dict.fromkeys(g.type.name for g in cluster.compute if entry.required and name in mounts(cluster, g))
        for kind in types if having & types.keys() else ():
            if kind in section and kind not in having:
                yield Finding(
                    "local-disk-missing",
                    ("node_types", kind),
                    f"nodes of type '{kind}' mount '{name}' ({entry.device}) and list no scratch disk, as others do;"
                    " without it slurmd does not start there",
                    "add it to disks with use: scratch, or set clients or required: false of the mount",
                    key=True,
                )
