"""Sizes that are stated but cannot be meant: memory in decimal units, a node unlike its system, the MTU of IPoIB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clustergen.catalogue.hardware import gpu_variants
from clustergen.catalogue.systems import System
from clustergen.catalogue.tables import normal
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.hardware import NodeType
from clustergen.units import Bytes

_GIGA, _TERA = 10**9, 10**12
_TIMES = 8  # a server is sold with less and more memory than its row, not with an eighth of it
_LEAST_MIB, _MOST_MIB = 896, 64 << 20  # a virtual machine of 1 GiB, and the largest single systems
_MOST_GPUS, _MOST_OF_SOCKET = 16, 10  # DGX-2 and virtual machines; servers of ten cards on one root complex
_DATAGRAM_MTU = 4092  # an InfiniBand message of 4096 bytes less IPoIB's header


def memory_decimal(_: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Memory modules hold powers of two: 256GB of them are 256GiB, and 7 % of 256GB would be lost to jobs."""
    for name, spec in section.items():
        if spec.memory is None or spec.memory.value % _GIGA or not spec.memory.value:
            continue
        is_tera = spec.memory.value % (_TERA // 2) == 0 and spec.memory.value >= _TERA
        number = f"{spec.memory.value / (_TERA if is_tera else _GIGA):g}"
        stated, meant = (f"{number}{unit}" for unit in (("TB", "TiB") if is_tera else ("GB", "GiB")))
        yield Finding(
            "memory-decimal",
            ("node_types", name, "memory"),
            f"{stated} is {spec.memory.value / 2**30:.1f} GiB, but memory modules are sold in GiB",
            f"write {meant}, or the exact size in MiB",
        )


def _of_systems(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[tuple[str, NodeType, System]]:
    """The node types of systems that the catalogue knows."""
    for name, spec in section.items():
        if spec.system and (row := cluster.catalogue.system(spec.system)) is not None:
            yield name, spec, row


def unlike_its_system(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """A figure that a server of that name cannot have is a typo, and its nodes would drain."""
    for name, spec, row in _of_systems(cluster, section):
        count = spec.gpus.count
        if count is not None and row.gpu_count and count > row.gpu_count:
            yield Finding(
                "hardware-differs",
                ("node_types", name, "gpus", "count"),
                f"{row.id} has {row.gpu_count} GPUs, but '{name}' states {count}",
                f"write {row.gpu_count} or fewer, or describe the machine under catalogue.systems",
            )


def gpus_of_sockets(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """More GPUs than a machine with so many processors has lanes for are those of several nodes."""
    kinds = {kind.name: kind for kind in cluster.node_types}
    for name, spec in section.items():
        kind, count = kinds.get(name), spec.gpus.count
        if spec.system or count is None or kind is None or not kind.is_resolved:
            continue
        most = max(_MOST_GPUS, _MOST_OF_SOCKET * kind.sockets)
        if count > most:
            sockets = "1 socket" if kind.sockets == 1 else f"{kind.sockets} sockets"
            yield Finding(
                "hardware-differs",
                ("node_types", name, "gpus", "count"),
                f"a server of {sockets} has at most {most} GPUs, but '{name}' states {count}",
                "write the GPUs of one node: count: 8",
            )


def gpus_of_dgx(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """The GPUs of a DGX are those of its name: others are another machine, with another driver's name and memory."""
    view = cluster.catalogue
    for name, spec, row in _of_systems(cluster, section):
        stated = view.gpu(spec.gpus.model) if spec.gpus.model and spec.gpus.count != 0 else None
        is_named = row.id.startswith("dgx-") and normal(spec.system or "") == row.id  # dgx-a100 may be one of two
        if not is_named or row.gpu is None or stated is None:
            continue
        meant = {stated.id, *(variant.id for variant in gpu_variants(spec.gpus.model or ""))}
        if not meant & {row.gpu, "unknown"}:
            systems = [other for other in view.system_ids() if other.startswith("dgx-")]
            other = next((one for one in systems if getattr(view.system(one), "gpu", None) == stated.id), None)
            yield Finding(
                "hardware-differs",
                ("node_types", name, "gpus", "model"),
                f"{row.id} has GPUs of the model {row.gpu}, but '{name}' states {stated.id}",
                f"remove it, or write {f'system: {other}' if other else 'cpu and memory in place of system'}",
            )


def cores_of_dgx(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """A DGX has the processors of its row. Slurm may count their NUMA nodes as sockets: the product is compared."""
    for name, spec, row in _of_systems(cluster, section):
        if not row.id.startswith("dgx-") or not spec.cpu.cores_per_socket or not row.cpu.cores_per_socket:
            continue
        sockets, cores = row.cpu.sockets, row.cpu.sockets * row.cpu.cores_per_socket
        stated = (spec.cpu.sockets or sockets) * spec.cpu.cores_per_socket
        if stated > cores:
            yield Finding(
                "hardware-differs",
                ("node_types", name, "cpu", "cores_per_socket"),
                f"{row.id} has {cores} cores, but '{name}' states {stated}",
                f"write cpu: {{sockets: {sockets}, cores_per_socket: {row.cpu.cores_per_socket}}}",
            )


def architecture_unlike_system(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Packages and programs of another architecture do not start on the nodes."""
    for name, spec, row in _of_systems(cluster, section):
        if row.arch and spec.arch and spec.arch != row.arch:
            yield Finding(
                "hardware-differs",
                ("node_types", name, "arch"),
                f"{row.id} has processors of {row.arch}, but '{name}' states {spec.arch}",
                f"remove it, or write {row.arch}",
            )


def memory_of_machines(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Memory in the wrong unit: slurmd drains a node that has less than slurm.conf states, and jobs lose the rest."""
    view = cluster.catalogue
    for name, spec in section.items():
        row = view.system(spec.system) if spec.system else None
        usual = row.memory_mib if row else 0
        least, most = (-(-usual // _TIMES), usual * _TIMES) if usual else (_LEAST_MIB, _MOST_MIB)
        for field, mib in (("memory", spec.memory.mib if spec.memory else None), ("real_memory", spec.real_memory)):
            if mib is None or least <= mib <= most:
                continue
            is_text = field == "memory"
            size = spec.memory if is_text else f"{mib} MiB"
            machine = f"{row.id} has {Bytes(usual << 20)}" if row and usual else "servers have 1GiB to 64TiB"
            meant = Bytes(usual << 20) if usual else re.sub("[A-Za-z]+$", "GiB", str(size).replace(" ", ""))
            hint = f"memory: {meant}" if is_text else "real_memory is in MiB"
            yield Finding(
                "hardware-differs",
                ("node_types", name, field),
                f"{machine} of memory, but '{name}' states {size}",
                f"check the unit: {hint}",
            )


def ipoib_mtu(cluster: Cluster) -> Iterator[Finding]:
    """The interface would keep the MTU of its multicast group, and the unit that sets it would fail."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type != "infiniband" or fabric.ipoib_mode != "datagram" or fabric.mtu is None:
        return
    if not any(group.fabric for group in cluster.groups):
        return  # no interface gets an address, so that nothing sets an MTU
    if fabric.mtu > _DATAGRAM_MTU:
        yield Finding(
            "ipoib-mtu",
            ("networks", "fabric", "mtu"),
            f"IP over InfiniBand in datagram mode has an MTU of at most {_DATAGRAM_MTU}, not {fabric.mtu}",
            f"remove mtu to use that of the subnet, or write {_DATAGRAM_MTU} if its partitions have mtu=5",
        )
