"""The gates of exactly this cluster: for each node type those that its hardware and its file systems call for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clustergen.catalogue.acceptance import gate_kinds, shares
from clustergen.cluster.contributions import PythonOf
from clustergen.cluster.dcgm import dcgm_types
from clustergen.cluster.fabric import are_guessed, has_rdma
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.nvlink import domain_nodes, domains_of
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.facility.expectations import (
    Floor,
    at_least,
    fabric_rate,
    gpu_copy_floors,
    gpu_floors,
    latency_ceiling,
    message_floor,
    nccl_domain_floor,
    nccl_node_floor,
    nccl_nodes_floor,
    port_rate,
    storage_floor,
    write_floor,
)
from clustergen.features.acceptance.resolved import Acceptance
from clustergen.hostlist import compress
from clustergen.records import record, replace

Arguments = Mapping[str, str]
_BY_NVLINK = {"NCCL_MNNVL_ENABLE": "1", "NCCL_CUMEM_ENABLE": "1"}
_BY_FABRIC = {"NCCL_MNNVL_ENABLE": "0"}
_MOST_WRITERS = 8  # tasks of IOR and mdtest on a node


@record
class Gate:
    """One gate of one node type. `nodes`: how many one job uses; 0 stands for all. `gpus` are those of one node."""

    kind: str
    subject: str  # mount or rail; empty where a node has one of the kind
    type: str
    nodes: int
    tasks_per_node: int
    gpus: int
    arguments: Arguments
    floors: tuple[Floor, ...]
    hosts: str = ""  # folded; empty: all of the type
    compared: str = ""  # metric that is compared with the type's other nodes; empty: none

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.type, self.kind, self.subject)))


@record
class GatedType:
    """Compute nodes of one type that jobs reach by one partition. `name` is that of the type, or with the partition."""

    name: str
    kind: str
    hosts: str  # folded
    count: int
    partition: str
    gres: str


@once_per_cluster
def gated_types(cluster: Cluster) -> tuple[GatedType, ...]:
    """Node types of compute nodes that exist, by partition, since a gate is one job; those in no partition run none."""
    types: list[GatedType] = []
    taken = {node_type.name for node_type in cluster.node_types}
    for node_type in cluster.node_types:
        groups = [
            group for group in cluster.of_type[node_type.name] if group.has("slurm-compute") and not group.is_dynamic
        ]
        parts = (
            _by_partition(cluster, [host for group in groups for host in group.hosts]) if node_type.is_resolved else ()
        )
        for number, (partition, hosts) in enumerate(parts):
            name = node_type.name if number == 0 else f"{node_type.name}-{re.sub(r'[^A-Za-z0-9_-]', '_', partition)}"
            while name in taken and number:
                name += "_"
            taken.add(name)
            gres = node_type.gpus.gres_type if node_type.gpus else ""
            types.append(
                GatedType(
                    name=name,
                    kind=node_type.name,
                    hosts=compress(hosts),
                    count=len(hosts),
                    partition=partition,
                    gres=gres,
                )
            )
    return tuple(types)


def _by_partition(cluster: Cluster, hosts: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The partitions that reach all hosts together, the one with most of them first."""
    rest = hosts
    while rest:
        best = max(cluster.slurm.partitions, key=lambda one: len(one.hosts.intersection(rest)), default=None)
        part = [host for host in rest if best and host in best.hosts]
        if best is None or not part:
            return
        yield best.name, part
        rest = [host for host in rest if host not in best.hosts]


@once_per_cluster
def gates(cluster: Cluster) -> tuple[Gate, ...]:
    """All gates, by stage, kind and node type."""
    order = {name: number for number, name in enumerate(gate_kinds())}
    kinds = {node_type.name: node_type for node_type in cluster.node_types}
    listed = [
        replace(gate, type=gated.name)
        for gated in gated_types(cluster)
        for gate in _of_type(cluster, kinds[gated.kind], gated.count)
    ]
    return tuple(sorted(listed, key=lambda gate: order[gate.kind]))


def _gate(
    node_type: NodeType,
    name: str,
    arguments: Arguments,
    floors: tuple[Floor | None, ...] = (),
    *,
    subject: str = "",
    gpus: int = 0,
    tasks_per_node: int = 1,
) -> Gate:
    bounds = tuple(floor for floor in floors if floor)
    return Gate(
        kind=name,
        subject=subject,
        type=node_type.name,
        nodes=gate_kinds()[name].nodes,
        tasks_per_node=tasks_per_node,
        gpus=gpus,
        arguments=arguments,
        floors=bounds,
    )


def _of_type(cluster: Cluster, node_type: NodeType, count: int) -> Iterator[Gate]:
    yield from _host(cluster, node_type)
    yield from _gpus(cluster, node_type)
    yield from _storage(cluster, node_type, count)
    yield from _network(cluster, node_type, count)
    if "resnet" in cluster.of(Acceptance).benchmarks:
        yield from _training(cluster, node_type, count)


def _host(cluster: Cluster, node_type: NodeType) -> Iterator[Gate]:
    floors = (
        Floor(
            "cpus", node_type.cpus, "CPUs", "equal", why="sockets x cores x threads of the node type", source="manifest"
        ),
        Floor("memory", node_type.real_memory_mib, "MiB", "least", why="RealMemory of slurm.conf", source="manifest"),
    )
    yield _gate(node_type, "hardware", {}, floors)
    own_tmpdir = cluster.of(Scripts).scratch
    failed = Floor("failed", 0, "checks", "most", why="every check passes", source="manifest")
    every_gpu = node_type.gpus.gres_count if node_type.gpus else 0  # without them, the job's checks would see no GPU
    yield _gate(node_type, "scripts", {"TMPDIR": own_tmpdir or ""}, (failed,), gpus=every_gpu)
    if cluster.slurm.keeps_books:
        tres = "gres/gpu" if node_type.gpus else "cpu"
        recorded = Floor("recorded", 1, "jobs", "least", why=f"sacct shows the job with {tres}", source="manifest")
        yield _gate(node_type, "accounting", {"TRES": tres}, (recorded,), gpus=every_gpu)
    errors = Floor("errors", 0, "errors", "most", why="stress-ng verifies each result", source="manifest")
    yield _gate(node_type, "cpu-burn", {}, (errors,))
    if "hpcc" in cluster.of(Acceptance).benchmarks:
        wrong = Floor("wrong", 0, "results", "most", why="hpcc checks the residual of each result", source="manifest")
        yield _gate(node_type, "linpack", {}, (wrong,), tasks_per_node=max(1, node_type.job_cores))


def _gpus(cluster: Cluster, node_type: NodeType) -> Iterator[Gate]:
    gpus = node_type.gpus
    if gpus is None:
        return
    model = {"MODEL": gpus.model.nvml_name}
    yield _gate(node_type, "gpus", model, gpu_floors(gpus), gpus=gpus.gres_count)
    if any(gpus.mig):
        return  # copies and collectives over MIG instances say nothing of the board
    if links := gpus.wired_links:
        floor = Floor("links", min(links), "NVLinks", "least", why="NVLinks of each GPU", source="catalogue")
        yield _gate(node_type, "gpu-links", {}, (floor,), gpus=gpus.count)
    yield _gate(node_type, "gpu-copy", {}, gpu_copy_floors(gpus), gpus=gpus.count)
    if node_type.name in dcgm_types(cluster):
        level = "1" if {"RTX", "GeForce", "TITAN"} & set(gpus.model.nvml_name.split()) else "3"
        errors = Floor("failed", 0, "tests", "most", why=f"no test of level {level} fails", source="DCGM")
        yield _gate(node_type, "gpu-diagnosis", {"LEVEL": level}, (errors,), gpus=gpus.count)
    if floor_inside := nccl_node_floor(gpus):
        yield _nccl(node_type, "nccl-node", {}, floor_inside)


def _nccl(node_type: NodeType, name: str, arguments: Arguments, floor: Floor | None, subject: str = "") -> Gate:
    """One task for each GPU; the ring, because tree and NVLS report more than the wire carries."""
    count = node_type.gpus.count if node_type.gpus else 1
    wrong = Floor("wrong", 0, "values", "most", why="nccl-tests compares each result", source="NVIDIA/nccl-tests")
    return _gate(
        node_type,
        name,
        {"NCCL_ALGO": "Ring", **arguments},
        (floor, wrong),
        subject=subject,
        gpus=count,
        tasks_per_node=count,
    )


def _storage(cluster: Cluster, node_type: NodeType, count: int) -> Iterator[Gate]:
    entries = {
        name: entry for group in cluster.of_type[node_type.name] for name, entry in mounts(cluster, group).items()
    }
    for name, entry in entries.items():
        arguments = {"DIRECTORY": entry.mount}
        wrong = Floor(
            "failed", 0, "mounts", "most", why="mounted, and a file can be written and read", source="manifest"
        )
        mode = {"WRITE": "" if entry.read_only else "yes"}
        yield _gate(node_type, "mounts", arguments | mode, (wrong,), subject=name)
        if entry.read_only:
            continue
        floor = storage_floor(cluster, node_type, entry, 1, "write")
        yield _gate(node_type, "storage", arguments, (floor,), subject=name)
        yield _gate(node_type, "metadata", arguments, subject=name)
        if entry.is_shared and count > 1:
            floor = storage_floor(cluster, node_type, entry, count, "write")
            yield _gate(node_type, "storage-whole", arguments, (floor,), subject=name)
            if "ior" in cluster.of(Acceptance).benchmarks:
                tasks = min(_MOST_WRITERS, max(1, node_type.job_cores))
                parallel = {**arguments, **_messages(cluster, node_type)}
                yield _gate(node_type, "ior", parallel, (floor,), subject=name, tasks_per_node=tasks)
                yield _gate(node_type, "mdtest", parallel, subject=name, tasks_per_node=tasks)


def _training(cluster: Cluster, node_type: NodeType, count: int) -> Iterator[Gate]:
    """A task for each GPU, or one on a node without; instances of MIG do not train together."""
    gpus = node_type.gpus.count if node_type.gpus else 0
    if node_type.gpus and any(node_type.gpus.mig):
        return
    environments = (one.path for one in cluster.needs(PythonOf) if one.package == "torch")
    python = cluster.of(Acceptance).python or next(environments, "python3")
    arguments = {"PYTHON": python, "GPUS": str(gpus)}
    tasks = max(gpus, 1)
    ranks = Floor(
        "ranks", tasks, "processes", "equal", why="one for each GPU, or one of a node without", source="manifest"
    )
    gate = _gate(node_type, "training", arguments, (ranks,), gpus=gpus, tasks_per_node=tasks)
    yield replace(gate, compared="images")
    if count > 1 and gpus:
        yield _gate(node_type, "training-whole", arguments, gpus=gpus, tasks_per_node=tasks)


def _is_rdma(cluster: Cluster) -> bool:
    fabric = cluster.networks.fabric
    return fabric is not None and fabric.type != "ethernet"


def _messages(cluster: Cluster, node_type: NodeType) -> Arguments:
    """How Open MPI sends: without RDMA it must not choose UCX."""
    return {"PML": "ucx" if _is_rdma(cluster) and node_type.fabric_ports() else "ob1"}


def _network(cluster: Cluster, node_type: NodeType, count: int) -> Iterator[Gate]:
    fabric = cluster.networks.fabric
    infiniband = fabric is not None and fabric.type == "infiniband"
    is_rdma = _is_rdma(cluster)
    ports = () if are_guessed(cluster, node_type) or not is_rdma else node_type.fabric_ports()
    ports = tuple(port for port in ports if has_rdma(port, infiniband=infiniband))
    rates = {port.device: rate for port in ports if (rate := port_rate(cluster, port))}
    if ports:
        floors = (
            Floor("ports", len(ports), "ports", "equal", why="fabric ports of the node type", source="manifest"),
            *(
                Floor(
                    port.device,
                    rates[port.device].gbit,
                    "Gb/s",
                    "least",
                    why="rate of port and network",
                    source="manifest",
                )
                for port in ports
                if port.device in rates
            ),
        )
        yield _gate(node_type, "fabric-ports", {"DEVICES": " ".join(port.device for port in ports)}, floors)
    if count < 2:
        return
    messages = _messages(cluster, node_type)
    floor = message_floor(cluster, node_type, is_rdma=messages["PML"] == "ucx")
    latency = latency_ceiling() if infiniband and node_type.fabric_ports() else None
    yield _gate(node_type, "mpi-pair", messages, (floor, latency))
    yield _gate(node_type, "mpi-whole", messages)
    for port in ports:
        bound = rates.get(port.device)
        floor = write_floor(bound) if bound else None
        arguments = {"DEVICE": port.device, "ROCE": "" if infiniband else "yes"}
        yield _gate(node_type, "fabric-pair", arguments, (floor,), subject=port.device)
    if node_type.gpus and not any(node_type.gpus.mig):
        yield from _domains(cluster, node_type, node_type.gpus)
        if fabric_rate(cluster, node_type):
            yield from _nccl_nodes(cluster, node_type, tuple(rates))


def _domains(cluster: Cluster, node_type: NodeType, gpus: GpuSet) -> Iterator[Gate]:
    """NCCL ends where it cannot use NVLink between the nodes, in place of falling back to the fabric.

    A domain is a gate of the type of its first node.
    """
    hosts_of_type = {host for group in cluster.of_type[node_type.name] for host in group.hosts}
    for name, hosts in domains_of(cluster, node_type).items():
        if len(hosts) > 1 and hosts[0] in hosts_of_type:
            gate = _nccl(node_type, "nccl-domain", _BY_NVLINK, nccl_domain_floor(gpus), name)
            yield replace(gate, hosts=compress(hosts))


def _nccl_nodes(cluster: Cluster, node_type: NodeType, devices: tuple[str, ...]) -> Iterator[Gate]:
    by_fabric = _BY_FABRIC if domain_nodes(node_type) > 1 else {}
    yield _nccl(node_type, "nccl-pair", by_fabric, nccl_nodes_floor(cluster, node_type, shares()["nccl-pair"]))
    yield _nccl(node_type, "nccl-whole", {}, nccl_nodes_floor(cluster, node_type, shares()["nccl-whole"]))
    by_device = {port.device: port for port in node_type.fabric_ports()}
    for device in devices if len(devices) > 1 else ():
        rate = port_rate(cluster, by_device[device])
        if rate is None:
            continue
        floor = at_least("busbw", shares()["nccl-rail"], rate.to_bytes(), f"port {device}")
        yield _nccl(node_type, "nccl-rail", {"NCCL_IB_HCA": f"={device}:1", **by_fabric}, floor, device)
