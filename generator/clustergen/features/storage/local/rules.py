"""Local disks: names that stay theirs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.storage.local.resolved import Local
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
