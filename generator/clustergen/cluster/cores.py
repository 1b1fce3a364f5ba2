"""Cores that jobs do not get: those on which WEKA's client polls, and the system's; and their CPUs' numbers.

Cores are counted as Slurm counts them: socket by socket, so that those of a NUMA node are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from clustergen.catalogue.systems import Cpu
from clustergen.cluster.model import NodeType, Port
from clustergen.filesystems.weka import model
from clustergen.filesystems.weka.entry import Weka, resolve
from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes

_OWN_CHOICE = ("core", "num_cores")  # mount options by which the manifest itself says it


def weka_interfaces(entry: Weka, ports: Sequence[Port]) -> tuple[str, ...]:
    """The manifest's, else a node type's storage ports, else its first fabric port; none: WEKA's UDP mode."""
    if entry.interfaces:
        return entry.interfaces
    storage = tuple(port.interface for port in ports if port.network == "storage" and port.interface)
    fabric = tuple(port.interface for port in ports if port.network == "fabric" and port.interface)
    return storage or fabric[:1]


def weka_numa(entry: Weka, node_type: NodeType) -> tuple[int | None, ...]:
    """NUMA node of each interface; None where nobody says. A machine with one NUMA node has no other."""
    if node_type.sockets * node_type.numa_per_socket == 1:
        return tuple(0 for _ in weka_interfaces(entry, node_type.ports))
    of = {name: port.numa for port in node_type.ports for name in (port.interface, port.device)}
    return tuple(of.get(name.partition(".")[0]) for name in weka_interfaces(entry, node_type.ports))


def polling_clients(manifest: Manifest) -> dict[str, Weka]:
    """File systems whose clients poll, which node types depend on."""
    sections = manifest.storage.items()
    return {name: resolve(name, section) for name, section in sections if isinstance(section, model.Weka)}


def polling_cores(
    clients: Mapping[str, Weka], node_type: NodeType, entries: Sequence[Nodes]
) -> Mapping[str, tuple[int, ...]]:
    """Storage entry → cores of its client on compute nodes of a type, of which `entries` are: the last ones of its
    interfaces' NUMA nodes, and never core 0. Entries with the same backends share one client. Fewer than stated where
    there are no more.
    """
    if not node_type.is_resolved or not _have(entries, "slurm-compute"):
        return {}
    by_backends: dict[tuple[str, ...], tuple[int, ...]] = {}
    result: dict[str, tuple[int, ...]] = {}
    width = node_type.cores_per_socket // node_type.numa_per_socket
    for name, entry in clients.items():
        if not any(_have(entries, role) for role in entry.clients):
            continue
        numa = [node or 0 for node in weka_numa(entry, node_type)]
        if not numa or any(option.partition("=")[0] in _OWN_CHOICE for option in entry.options):
            continue
        if entry.backends not in by_backends:
            taken = {0}.union(*by_backends.values())
            by_backends[entry.backends] = tuple(sorted(_last(numa, width, taken, entry.cores)))
        result[name] = by_backends[entry.backends]
    return result


def _have(entries: Sequence[Nodes], role: str) -> bool:
    return any(role in (entry.roles or ("slurm-compute",)) for entry in entries)


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
