"""RDMA in general: modules, and device names that stay what the manifest calls them."""

from __future__ import annotations

import re

from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.rails import rdma_device
from clustergen.records import record
from clustergen.render.file import Context

_MODES = {
    "NAME_KERNEL": re.compile(r"(mlx[45]|irdma|bnxt_re|hns|qedr)_?[0-9]+"),
    "NAME_FALLBACK": re.compile(r"(ib|roce|iw)(P[0-9]+)?p[0-9]+s[0-9]+(f[0-9]+)?"),
}
"""Setting of rdma_rename → the names that follow from it: by order of detection, or by PCI address."""


@record
class Module:
    name: str
    why: str


@record
class Naming:
    mode: str
    by_address: bool
    device: str  # one of the names that result


def modules(cluster: Cluster) -> Context | None:
    """None for a fabric that speaks TCP only."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    names = [
        Module("ib_uverbs", "RDMA for programs: NCCL, UCX, perftest"),
        Module("rdma_ucm", "connections by address: storage, perftest -R"),
    ]
    if fabric.type == "infiniband":
        names.append(Module("ib_umad", "management packets: ibstat, perfquery, opensm"))
        if any(group.fabric for group in cluster.groups):
            names.append(Module("ib_ipoib", "IP over InfiniBand"))
    return {"modules": tuple(names)}


def names(cluster: Cluster, node_type: NodeType) -> Naming | None:
    """The rule that gives devices the names of the manifest: rdma-core and MLNX_OFED have different ones."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type == "ethernet":
        return None
    devices = [name for port in node_type.fabric_ports() if (name := rdma_device(port, fabric))]
    modes = [mode for mode, form in _MODES.items() if devices and all(map(form.fullmatch, devices))]
    return Naming(modes[0], modes[0] != "NAME_KERNEL", devices[0]) if modes else None
