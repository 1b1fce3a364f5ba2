"""The options that a node type states beside its system, in words for an order: CPUs, memory, GPUs, adapters, disks,
supplies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.named_rows import Configuration, Configurations


def configuration(cluster: Cluster, node_type: NodeType) -> str:
    """`2 x Xeon Platinum 8592+ (64 cores), 1.5TiB, NICs 8 x cx7, disks 2 x 3.84TB (system)`; empty without any."""
    stated = cluster.of(Configurations).of_type.get(node_type.name)
    return ", ".join(_parts(stated)) if stated else ""


def _parts(stated: Configuration) -> Iterator[str]:
    if stated.sockets or stated.cpu_model:
        cores = f" ({stated.cores_per_socket} cores)" if stated.cores_per_socket else ""
        yield (f"{stated.sockets} x " if stated.sockets else "") + f"{stated.cpu_model or 'CPU'}{cores}"
    if stated.memory:
        yield str(stated.memory)
    if stated.gpu_count or stated.gpu_model:
        yield (f"{stated.gpu_count} x " if stated.gpu_count else "") + (stated.gpu_model or "GPU")
    if stated.nics:
        yield f"NIC ports {_counted(model or 'unknown' for model in stated.nics)}"
    if stated.disks:
        yield "disks " + _counted(f"{disk.size} ({disk.use})" for disk in stated.disks)
    if stated.psus:
        yield f"{stated.psus} power {'supply' if stated.psus == 1 else 'supplies'}" + (
            f" of {stated.psu}" if stated.psu else ""
        )


def _counted(names: Iterator[str]) -> str:
    return " + ".join(f"{count} x {name}" for name, count in Counter(names).items())
