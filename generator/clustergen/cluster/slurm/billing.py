"""Billing units of an hour: one unit for all partitions, derived from prices or from the hardware."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from clustergen.catalogue.facility import rack_system_of
from clustergen.catalogue.hardware import Gpu
from clustergen.cluster.facility import Facility
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.slurm.model import Partition
from clustergen.cluster.slurm.scheduling import Priority
from clustergen.records import record

UNIT = 1000
"""Of an hour of the least capable GPU, or of the cheapest; Slurm counts whole units, so shares do not get lost."""


@record
class Prices:
    """Units of an hour of a node, by the name of its type. `stated`: they follow from `facility.prices`."""

    nodes: Mapping[str, float]
    stated: bool


def prices_of(kinds: Iterable[NodeType], stated: Mapping[str, float]) -> Prices:
    """Prices of the node types of jobs. None where Slurm's own unit, a CPU, serves for all: there are no GPUs.

    `stated`: `facility.prices.items`; they count once they have all of these node types.
    """
    types = {kind.name: kind for kind in kinds if kind.is_resolved}
    costs = {name: cost for name, kind in types.items() if (cost := _cost(kind, stated)) is not None}
    if types and len(costs) == len(types) and all(costs.values()):
        shares = [costs[name] / kind.gpus.count for name, kind in types.items() if kind.gpus] or list(costs.values())
        return Prices({name: round(UNIT * cost / min(shares)) for name, cost in costs.items()}, True)
    models = {kind.name: kind.gpus.model for kind in types.values() if kind.gpus}
    if not models:
        return Prices({}, False)
    least = min(filter(None, map(_capability, models.values())), default=None)
    nodes = {}
    for name, kind in types.items():
        if kind.gpus:
            capability = _capability(kind.gpus.model)
            nodes[name] = kind.gpus.count * round(UNIT * (capability / least if capability and least else 1))
    without = [kind for kind in types.values() if not kind.gpus]
    cores, memory = (min(map(measure, without), default=1) for measure in (_cores, _memory))
    nodes |= {kind.name: round(UNIT * (_cores(kind) / cores + _memory(kind) / memory) / 2) for kind in without}
    return Prices(nodes, False)


def _cost(kind: NodeType, stated: Mapping[str, float]) -> float | None:
    whole = rack_system_of(kind.system) if kind.system else None
    cost = stated.get(whole.id if whole else kind.system or kind.name)
    return cost / whole.trays if cost is not None and whole else cost


def _capability(gpu: Gpu) -> float | None:
    """Geometric mean of FP16 throughput and memory bandwidth; None where the catalogue lacks one of them."""
    return math.sqrt(gpu.fp16_tflops * gpu.bandwidth_gb_s) if gpu.fp16_tflops and gpu.bandwidth_gb_s else None


def _cores(kind: NodeType) -> int:
    return max(1, kind.job_cores)


def _memory(kind: NodeType) -> int:
    return max(1, kind.job_memory_mib)


def weights_of(kinds: Iterable[NodeType], prices: Prices) -> dict[str, float]:
    """TRESBillingWeights of a partition, memory by the GiB. A job bills the largest of its products (MAX_TRES), so each
    resource weighs as its share of a node. Of several node types, the lowest: no share costs more than its node.
    """
    resolved = [kind for kind in kinds if kind.name in prices.nodes]
    if not resolved:
        return {}
    units = [prices.nodes[kind.name] for kind in resolved]
    cpus = min(unit / (_cores(kind) * kind.threads_per_core) for unit, kind in zip(units, resolved, strict=True))
    memory = min(unit * 1024 / _memory(kind) for unit, kind in zip(units, resolved, strict=True))
    return {"CPU": round(cpus, 3), "Mem": round(memory, 3), **_of_gpus(resolved, prices)}


def _of_gpus(kinds: Iterable[NodeType], prices: Prices) -> dict[str, float]:
    """One weight of all GPUs where it is the same, or Slurm knows no types; else one by type. Then shares of GPUs."""
    weights: dict[str, float] = {}
    shares: dict[str, float] = {}
    for kind in kinds:
        if kind.gpus is None:
            continue
        unit = prices.nodes[kind.name]
        for name, weight in gpu_prices(kind.gpus, unit).items():
            weights[name] = min(weight, weights.get(name, weight))
        for name, number in (("GRES/shard", kind.gpus.shards_per_gpu), ("GRES/mps", kind.gpus.mps_per_gpu)):
            if number:
                weight = round(unit / kind.gpus.count / number, 3)
                shares[name] = min(weight, shares.get(name, weight))
    if weights and ("GRES/gpu" in weights or len(set(weights.values())) == 1):
        weights = {"GRES/gpu": min(weights.values())}
    return weights | shares


def gpu_prices(gpus: GpuSet, unit: float) -> dict[str, float]:
    """TRES → units of an hour of a whole GPU or MIG instance. `unit`: of the node; one slice of seven is a seventh."""
    whole = round(unit / gpus.count, 3)
    names: dict[str, float] = {}
    for profile in _profiles(gpus):
        kind = gpus.instance_type(profile) if profile else gpus.gres_type
        slices = int(profile.partition("g")[0]) / (gpus.model.mig_max or 7) if profile else 1
        name = f"GRES/gpu:{kind}" if kind else "GRES/gpu"
        names[name] = min(round(whole * slices, 3), names.get(name, whole))
    return names


def _profiles(gpus: GpuSet) -> Counter[str]:
    """MIG profile → instances of a node; whole GPUs are those without a name."""
    if not gpus.mig:
        return Counter({"": gpus.count})
    profiles: Counter[str] = Counter()
    for layout in gpus.mig:
        profiles.update(layout.profiles if layout else {"": 1})
    return profiles


@once_per_cluster
def prices(cluster: Cluster) -> Prices:
    """Prices of the cluster's node types."""
    stated = cluster.of(Facility).prices if cluster.has(Facility) else None
    kinds = {group.type.name: group.type for group in cluster.compute}
    return prices_of(kinds.values(), stated.items if stated else {})


def node_amounts(kind: NodeType) -> dict[str, float]:
    """TRES that jobs can have of a whole node; memory in GiB."""
    amounts = {"cpu": float(_cores(kind) * kind.threads_per_core), "mem": kind.job_memory_mib / 1024, "node": 1.0}
    if kind.gpus:
        amounts["gres/gpu"] = kind.gpus.gres_count
        for profile, count in _profiles(kind.gpus).items():
            if name := kind.gpus.instance_type(profile) if profile else kind.gpus.gres_type:
                amounts[f"gres/gpu:{name}"] = count
    return amounts


def price(cluster: Cluster, partition: Partition, amounts: Mapping[str, float]) -> float:
    """Units of an hour of some resources: of the largest product with MAX_TRES, else of their sum. Slurm bills CPUs
    where there are no weights.
    """
    weights = {name.lower(): weight for name, weight in partition.billing.items()} or {"cpu": 1.0}
    products = [weights.get(name.lower(), 0) * amount for name, amount in amounts.items()]
    return sum(products) if is_summed(cluster) else max(products)


def is_summed(cluster: Cluster) -> bool:
    """True if a job pays for all of its resources; with MAX_TRES, for the one with the largest product."""
    return cluster.slurm.bare and "MAX_TRES" not in cluster.of(Priority).flags


def is_billed(cluster: Cluster) -> bool:
    """True if slurm.conf has the weights: slurmdbd keeps what they count, or the manifest states them."""
    return bool(cluster.slurm.slurmdbd_hosts) or cluster.slurm.bare
