"""Manifest + catalogue → Cluster. What cannot be resolved is reported, and a placeholder lets other checks go on."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import operating_system
from clustergen.catalogue.systems import Cpu
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.fabric import leaves_of, resolve_switches
from clustergen.cluster.hardware import SERVICE, TypeResolver
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.nodes import resolve_nodes
from clustergen.cluster.partitions import resolve_partitions
from clustergen.cluster.shelf import Report
from clustergen.manifest.model import Manifest
from clustergen.records import replace


def resolve(manifest: Manifest, report: Report) -> Cluster:
    """The cluster that a manifest means; what cannot be resolved is told to `report`: it is then not to be rendered."""
    release = SlurmRelease(manifest.slurm.version)
    types = _types(manifest, release, report)
    groups = resolve_nodes(manifest, types, report)
    used = {group.type.name for group in groups}
    switches = resolve_switches(manifest, report)
    leaves = leaves_of(switches, {host for group in groups if group.has("slurm-compute") for host in group.hosts})
    found = operating_system(manifest.os)
    assert found is not None, "the manifest's schema and the catalogue name the same operating systems"
    wanted = manifest.slurm.topology.plugin
    return Cluster(
        manifest=manifest,
        name=manifest.name,
        os=found,
        release=release,
        node_types=tuple(kind for kind in types.values() if kind.name in used),
        groups=groups,
        partitions=resolve_partitions(manifest, groups, report),
        switches=switches,
        leaves=leaves,
        topology=wanted if wanted != "auto" else ("tree" if leaves else "flat"),
    )


def _types(manifest: Manifest, release: SlurmRelease, report: Report) -> dict[str, NodeType]:
    resolver = TypeResolver(manifest, report)
    types = {name: resolver.resolve(name, written) for name, written in manifest.node_types.items()}
    types.setdefault(SERVICE, resolver.service())
    # SlurmdParameters=numa_node_as_socket holds for the whole cluster, so all node types follow or none does.
    stated = {written.numa_as_socket for written in manifest.node_types.values()}
    as_socket = True in stated or (
        resolver.gpus.wants_numa
        and False not in stated
        and release >= SlurmRelease("22.05")
        and manifest.slurm.defaults != "slurm"
    )
    return {name: _seen_by_slurm(kind, as_socket) for name, kind in types.items()}


def _seen_by_slurm(kind: NodeType, numa_as_socket: bool) -> NodeType:
    """Cores of each GPU must be whole sockets as Slurm counts them."""
    gpus = kind.gpus
    if gpus is not None:
        cpu = Cpu(kind.sockets, kind.cores_per_socket, kind.threads_per_core, kind.numa_per_socket)
        if numa_as_socket and gpus.numa:
            cores = tuple(cpu.cores_of_numa(node) for node in gpus.numa)
        elif numa_as_socket and kind.numa_per_socket > 1:
            cores = ()  # somewhere in the socket, nobody knows where
        else:
            cores = tuple(cpu.cores_of_socket(socket) for socket in gpus.sockets)
        gpus = replace(gpus, cores=cores)
    return replace(kind, numa_as_socket=numa_as_socket and kind.numa_per_socket > 1, gpus=gpus)
