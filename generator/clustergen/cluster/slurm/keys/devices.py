"""GPUs as Slurm counts them: the types and numbers of slurm.conf's Gres, which gres.conf has to repeat."""

from __future__ import annotations

from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster


def has_shards(cluster: Cluster) -> bool:
    return any(node_type.gpus and node_type.gpus.shards_per_gpu for node_type in cluster.gpu_types)


def has_mps(cluster: Cluster) -> bool:
    return any(node_type.gpus and node_type.gpus.mps_per_gpu for node_type in cluster.gpu_types)


def gpu_counts(gpus: GpuSet) -> dict[str, int]:
    """Gres type, or nothing → devices of a node, MIG instances counted one by one."""
    counts: dict[str, int] = {}
    for index in range(gpus.count):
        layout = gpus.mig[index] if gpus.mig else None
        if layout is None:
            counts[gpus.gres_type] = counts.get(gpus.gres_type, 0) + 1
            continue
        for profile, number in layout.profiles.items():
            name = gpus.instance_type(profile)
            counts[name] = counts.get(name, 0) + number
    return counts


def gres(gpus: GpuSet | None) -> str:
    """The Gres of a NodeName line: `gpu:h100:8,shard:64`."""
    if gpus is None:
        return ""
    words = [f"gpu:{name}:{number}" if name else f"gpu:{number}" for name, number in gpu_counts(gpus).items()]
    if gpus.total_shards:
        words.append(f"shard:{gpus.total_shards}")
    if gpus.mps_per_gpu:
        words.append(f"mps:{gpus.count * gpus.mps_per_gpu}")
    return ",".join(words)


def tres_of(cluster: Cluster) -> list[str]:
    """The TRES of accounting: all GPUs together, and each type of them."""
    types = dict.fromkeys(
        name for node_type in cluster.gpu_types if node_type.gpus for name in gpu_counts(node_type.gpus)
    )
    names = ["gres/gpu", *(f"gres/gpu:{name}" for name in types if name)] if types else []
    return names + ["gres/shard"] * has_shards(cluster) + ["gres/mps"] * has_mps(cluster)


def gres_names(cluster: Cluster) -> list[str]:
    """Kinds of devices."""
    names = ["gpu"] if cluster.gpu_types else []
    return names + ["shard"] * has_shards(cluster) + ["mps"] * has_mps(cluster)
