"""RDMA in general: modules, and device names that stay what the manifest calls them."""

from __future__ import annotations

import re

from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.views.fabric.rails import fabric_of, rdma_device
from clustergen.render.views.fixed import Fixed

_KERNEL_NAME = re.compile(r"(mlx[45]|irdma|bnxt_re|hns|qedr)_?[0-9]+")


@record
class Module:
    name: str
    why: str


@record
class Modules:
    modules: tuple[Module, ...]


def modules(cluster: Cluster) -> Modules | None:
    """None for a fabric that speaks TCP only."""
    fabric = fabric_of(cluster)
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
    return Modules(tuple(names))


def names(cluster: Cluster, kind: NodeType) -> Fixed | None:
    """Where the manifest counts devices as the kernel does (mlx5_0), rdma-core must not name them by PCI address."""
    fabric = fabric_of(cluster)
    if fabric is None or fabric.type == "ethernet":
        return None
    devices = [name for port in kind.fabric_ports() if (name := rdma_device(port, fabric))]
    return Fixed() if devices and all(map(_KERNEL_NAME.fullmatch, devices)) else None
