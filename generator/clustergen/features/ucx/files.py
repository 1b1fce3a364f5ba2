"""UCX and Open MPI: the same devices and networks as NCCL, for what jobs do beside it."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.interfaces import management_interface
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.networks import Roce, SubnetManager
from clustergen.cluster.rails import rdma_devices, tcp_interfaces
from clustergen.features.ucx.resolved import Ucx
from clustergen.features.ucx.rules import LINE
from clustergen.records import record
from clustergen.render.file import Context, File
from clustergen.render.formats import Safe, unquoted

_STATED = "Stated in the manifest."


@record
class Parameter:
    name: str
    value: Safe
    why: str


def ucx(cluster: Cluster, node_type: NodeType) -> Context | None:
    """ucx.conf by node type. Grace keeps the one of its package, which holds the tuning of that CPU."""
    if not cluster.of(Ucx).enabled or "grace" in node_type.cpu_model.lower():
        return None
    return _merged([*_devices(cluster, node_type), *_marks(cluster, node_type)], cluster.of(Ucx).env)


def _devices(cluster: Cluster, node_type: NodeType) -> list[Parameter]:
    if devices := rdma_devices(cluster, node_type):
        if are_guessed(cluster, node_type):
            return []
        ports = Parameter(
            "UCX_NET_DEVICES",
            Safe(",".join(f"{device}:1" for device in devices)),
            "The fabric's ports, not those of storage and management.",
        )
        # Half a list would be worse than none.
        return [ports] if len(f"{ports.name}={ports.value}") <= LINE else []
    interface = management_interface(cluster, node_type)
    names = tcp_interfaces(cluster, node_type) or ((interface,) if interface else ())
    if cluster.host_count < 2 or not names:
        return []
    return [Parameter("UCX_NET_DEVICES", Safe(",".join(names)), "The network that the nodes share.")]


def _marks(cluster: Cluster, node_type: NodeType) -> list[Parameter]:
    fabric = cluster.networks.fabric
    if fabric is None or not rdma_devices(cluster, node_type):
        return []
    marks = []
    level = fabric.service_level if fabric.type == "infiniband" else None
    if roce := cluster.get(Roce):
        if roce.trust == "pcp":
            level = roce.priority
        else:
            value = Safe(str(roce.traffic_class))
            marks.append(Parameter("UCX_IB_TRAFFIC_CLASS", value, f"DSCP {roce.dscp}: the switches know RDMA by it."))
    if level is not None:
        marks.append(Parameter("UCX_IB_SL", Safe(str(level)), "Service level, as NCCL's."))
    key = cluster.of(SubnetManager).pkey if cluster.has(SubnetManager) else None
    if key and int(key, 16) & 0x7FFF != 0x7FFF:
        marks.append(Parameter("UCX_IB_PKEY", Safe(f"0x{int(key, 16) | 0x8000:04x}"), "The partition of the jobs."))
    return marks


def mpi(cluster: Cluster, _os: OperatingSystem) -> Context | None:
    """Open MPI's parameters; the file that the distribution ships at that place keeps UCX off."""
    if not cluster.of(Ucx).enabled or cluster.host_count < 2:
        return None
    networks = cluster.networks
    fabric = networks.fabric
    if fabric is not None and fabric.type != "ethernet":
        ours = [
            Parameter("pml", Safe("ucx"), "MPI messages use UCX: RDMA between nodes, shared memory within a node."),
            Parameter("osc", Safe("ucx"), "One-sided communication over UCX too."),
        ]
    else:
        ours = [
            Parameter("pml", Safe("^ucx"), "No RDMA here: plain TCP between nodes."),
            Parameter("mtl", Safe("^ofi"), "The same, for libfabric."),
        ]
    ours.append(Parameter("btl", Safe("^openib,uct,ofi"), "Older RDMA transports; openib breaks programs that fork."))
    data = fabric.cidr if fabric is not None and fabric.type == "ethernet" else networks.management.cidr
    if data:
        ours.append(Parameter("btl_tcp_if_include", Safe(data), "TCP on a network that all nodes share."))
    if networks.management.cidr:
        ours.append(Parameter("oob_tcp_if_include", Safe(networks.management.cidr), "The network of mpirun itself."))
    ours.append(Parameter("btl_base_warn_component_unused", Safe("0"), "Suppresses warnings on nodes without RDMA."))
    return _merged(ours, cluster.of(Ucx).mca)


def _merged(ours: list[Parameter], stated: Mapping[str, str]) -> Context | None:
    left = dict(stated)
    merged = [
        Parameter(item.name, unquoted(item.name, left.pop(item.name)), _STATED) if item.name in left else item
        for item in ours
    ]
    merged += [Parameter(name, unquoted(name, value), _STATED) for name, value in left.items()]
    return {"parameters": tuple(merged)} if merged else None


FILES: tuple[File, ...] = (
    File("slurm_compute/etc/ucx/ucx.conf", ucx, per="type"),
    File(
        "slurm_compute/{os.openmpi_params}", mpi, per="os", source="slurm_compute/etc/openmpi/openmpi-mca-params.conf"
    ),
)
