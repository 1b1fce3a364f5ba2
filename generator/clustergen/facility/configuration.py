"""The options that a node type states beside its system, in words for an order: CPUs, memory, GPUs, adapters, disks,
supplies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeType
from clustergen.manifest.hardware import NodeType as NodeTypeSpec


def configuration(cluster: Cluster, node_type: NodeType) -> str:
    """`2 x Xeon Platinum 8592+ (64 cores), 1.5TiB, NICs 8 x cx7, disks 2 x 3.84TB (system)`; empty without any."""
    spec = cluster.manifest.node_types.get(node_type.name)
    return ", ".join(_parts(spec)) if spec else ""


def _parts(spec: NodeTypeSpec) -> Iterator[str]:
    cpu, gpus, power = spec.cpu, spec.gpus, spec.power
    if cpu.sockets or cpu.model:
        cores = f" ({cpu.cores_per_socket} cores)" if cpu.cores_per_socket else ""
        yield (f"{cpu.sockets} x " if cpu.sockets else "") + f"{cpu.model or 'CPU'}{cores}"
    if spec.memory:
        yield str(spec.memory)
    if gpus.count or gpus.model:
        yield (f"{gpus.count} x " if gpus.count else "") + (gpus.model or "GPU")
    if spec.nics:
        yield f"NIC ports {_counted(nic.model or 'unknown' for nic in spec.nics)}"
    if spec.disks:
        yield "disks " + _counted(f"{disk.size} ({disk.use})" for disk in spec.disks)
    if power.psus:
        yield f"{power.psus} power {'supply' if power.psus == 1 else 'supplies'}" + (
            f" of {power.psu}" if power.psu else ""
        )


def _counted(names: Iterator[str]) -> str:
    return " + ".join(f"{count} x {name}" for name, count in Counter(names).items())
