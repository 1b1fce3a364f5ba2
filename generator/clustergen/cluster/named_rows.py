"""Hardware as the manifest names it: rows of the catalogue, and what a node type states beside its system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.networks import NETWORKS
from clustergen.manifest import hardware
from clustergen.manifest.model import Manifest
from clustergen.records import copied, record
from clustergen.units import Bytes, Watts


@record
class NamedRows:
    """Rows of the catalogue that some part of the manifest names, be it in use or not."""

    IS_INTERNAL = True

    systems: frozenset[str]
    gpus: frozenset[str]
    switches: frozenset[str]


@record
class Disk:
    """A local disk."""

    size: Bytes
    use: str


@record
class Configuration:
    """The options that a node type states beside its system, as an order lists them."""

    SECTIONS = ("Cpu", "NodeType", "Power")
    sockets: int | None
    cpu_model: str | None  # of each socket
    cores_per_socket: int | None
    memory: Bytes | None
    gpu_count: int | None  # of a node
    gpu_model: str | None  # of each GPU
    nics: tuple[str | None, ...]  # model of each port
    disks: tuple[Disk, ...]
    psus: int | None
    psu: Watts | None


@record
class Configurations:
    """The options of the node types that the manifest defines, by name."""

    of_type: Mapping[str, Configuration]  # node type → its options


def resolve_named_rows(manifest: Manifest, _: Cluster) -> NamedRows:
    types, own_systems = manifest.node_types.values(), manifest.catalogue.systems.values()
    fabric = manifest.networks.fabric
    plans = [network.plan for name in NETWORKS if (network := getattr(manifest.networks, name)) and network.plan]
    return NamedRows(
        _names(kind.system for kind in types),
        _names([*(kind.gpus.model for kind in types), *(row.gpu for row in own_systems)]),
        _names(
            [
                *(switch.model for switch in (fabric.switches if fabric else ())),
                *(model for plan in plans for model in (plan.leaf, plan.spine, plan.core)),
            ]
        ),
    )


def has_scratch_disk(cluster: Cluster, node_type: NodeType) -> bool:
    """True if the manifest lists a disk for job scratch, the use of local disks that are mounted."""
    types = cluster.of(Configurations).of_type
    return node_type.name in types and any(disk.use == "scratch" for disk in types[node_type.name].disks)


def _names(names: Iterable[str | None]) -> frozenset[str]:
    return frozenset(filter(None, names))


def resolve_configurations(manifest: Manifest, _: Cluster) -> Configurations:
    return Configurations({name: _configuration(kind) for name, kind in manifest.node_types.items()})


def _configuration(kind: hardware.NodeType) -> Configuration:
    return Configuration(
        sockets=kind.cpu.sockets,
        cpu_model=kind.cpu.model,
        cores_per_socket=kind.cpu.cores_per_socket,
        memory=kind.memory,
        gpu_count=kind.gpus.count,
        gpu_model=kind.gpus.model,
        nics=tuple(nic.model for nic in kind.nics or ()),
        disks=tuple(copied(Disk, disk) for disk in kind.disks),
        psus=kind.power.psus,
        psu=kind.power.psu,
    )
