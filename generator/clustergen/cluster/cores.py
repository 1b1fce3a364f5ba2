"""Cores that jobs do not get: those on which clients of file systems poll, and the system's; and their CPUs' numbers.

Cores are counted as Slurm counts them: socket by socket, so that those of a NUMA node are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from clustergen.catalogue.systems import Cpu
from clustergen.cluster.model import NodeType
from clustergen.cluster.roles import COMPUTE, roles_of
from clustergen.feature import module, result_of
from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes
from clustergen.records import record


@record
class Polling:
    """A client that polls on nodes of a type: `cores` of the NUMA nodes of its interfaces. Entries with the
    same servers share one client.
    """

    servers: tuple[str, ...]
    numa: tuple[int, ...]
    cores: int


def polling_cores(manifest: Manifest, node_type: NodeType, entries: Sequence[Nodes]) -> Mapping[str, tuple[int, ...]]:
    """Storage entry → cores of its client on compute nodes of a type, of which `entries` are: the last ones of its
    interfaces' NUMA nodes, and never core 0. Fewer than stated where there are no more.
    """
    roles = set[str]().union(*(roles_of(entry, has_gpus=node_type.gpus is not None) for entry in entries))
    if not node_type.is_resolved or COMPUTE not in roles:
        return {}
    by_servers: dict[tuple[str, ...], tuple[int, ...]] = {}
    result: dict[str, tuple[int, ...]] = {}
    width = node_type.cores_per_socket // node_type.numa_per_socket
    network = manifest.networks.storage
    has_addresses = any(entry.addresses.storage for entry in entries)
    storage = ((network.interface if network else None) or "") if has_addresses else None
    for name, section in manifest.storage.items():
        polls = getattr(module(f"storage.{section.type}", "resolved"), "polling", None)
        client = result_of(polls, Polling, section, node_type, storage) if polls else None
        is_spared = section.node_types and node_type.name not in section.node_types
        if client is None or is_spared or roles.isdisjoint(section.clients):
            continue
        if client.servers not in by_servers:
            taken = {0}.union(*by_servers.values())
            by_servers[client.servers] = tuple(sorted(_last(client.numa, width, taken, client.cores)))
        result[name] = by_servers[client.servers]
    return result


def _last(numa: Sequence[int], width: int, taken: set[int], count: int) -> Iterator[int]:
    """`count` free cores from the ends of NUMA nodes in turn."""
    free = {node: [core for core in range(node * width, (node + 1) * width) if core not in taken] for node in numa}
    while count and any(free.values()):
        for node in dict.fromkeys(numa):
            if count and free[node]:
                count -= 1
                yield free[node].pop()


def system_cores(node_type: NodeType, count: int, taken: Iterable[int]) -> list[int]:
    """Cores in the order in which Slurm picks them for CoreSpecCount: the last core of each socket in turn, from the
    last socket on.
    """
    width, used = node_type.slurm_cores_per_socket, set(taken)
    order = (
        socket * width + core for core in reversed(range(width)) for socket in reversed(range(node_type.slurm_sockets))
    )
    return [core for core in order if core not in used][:count]


def slurm_cpu_list(node_type: NodeType) -> str:
    """CpuSpecList: abstract CPU ids, those of a core beside each other; empty where no client has cores of its own."""
    polling = {core for cores in node_type.polling.values() for core in cores}
    if not polling:
        return ""
    cores = sorted(polling.union(system_cores(node_type, node_type.reserved_cores - len(polling), polling)))
    threads = node_type.threads_per_core
    return ranges([core * threads + thread for core in cores for thread in range(threads)])


def linux_cpus(node_type: NodeType, cores: Iterable[int]) -> list[int]:
    """The kernel's numbers of all threads of some cores."""
    cpu = Cpu(node_type.sockets, node_type.cores_per_socket, node_type.threads_per_core)
    threads = range(node_type.threads_per_core)
    return sorted(cpu.linux_cpu(core, thread, node_type.cpu_numbering) for core in cores for thread in threads)


def ranges(numbers: Iterable[int]) -> str:
    """Sorted numbers with neighbours folded: `60-63,124-127`."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda item: item[1] - item[0])]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
